//! The closed loop: each worker sends its next request when the last one was answered.
//!
//! There is no pacing: C workers have exactly C requests in flight, which is what the benchmark
//! compares. The results say nothing about latency at a given rate.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Barrier;
use tokio::task::{JoinSet, LocalSet};

use super::cases::LoadCaseRunner;
use super::connection::LoadConnection;
use super::report::{LoadReport, WorkerStats};
use super::{LoadCase, Options};

/// The state that all workers share: the remaining work and the start signal.
struct LoadRun {
    options: Options,
    warmup_left: AtomicU64,
    left: AtomicU64,
    warm: Barrier,
    begin: Barrier,
}

/// Runs the plan; `when_warm` is called between the warm-up and the measured part.
pub async fn drive(
    options: &Options,
    when_warm: impl FnOnce() -> io::Result<()>,
) -> io::Result<LoadReport> {
    let workers = options.concurrency.get();
    let everyone = workers as usize + 1;
    let run = Rc::new(LoadRun {
        options: options.clone(),
        warmup_left: AtomicU64::new(options.warmup),
        left: AtomicU64::new(if options.seconds.is_some() { u64::MAX } else { options.calls }),
        warm: Barrier::new(everyone),
        begin: Barrier::new(everyone),
    });
    let local = LocalSet::new();
    let mut working = JoinSet::new();
    for number in 0..workers {
        working.spawn_local_on(work(Rc::clone(&run), number), &local);
    }
    local
        .run_until(async {
            run.warm.wait().await;
            when_warm()?;
            run.begin.wait().await;
            let began = Instant::now();
            let mut total = WorkerStats::default();
            while let Some(tally) = working.join_next().await {
                total.add(tally.map_err(io::Error::other)?);
            }
            Ok(total.report(began.elapsed()))
        })
        .await
}

async fn work(run: Rc<LoadRun>, number: u32) -> WorkerStats {
    let iteration = LoadCaseRunner::new(&run.options, number);
    let mut tally = WorkerStats::default();
    // Connecting is no part of the first measured call.
    let mut channel = connect(&run.options, number).await.ok();
    while take(&run.warmup_left) {
        if let Err(error) = attempt(&run.options, &iteration, &mut channel, (number, 0)).await {
            tally.record(Duration::ZERO, Err(format!("warm-up: {error}")));
        }
    }
    run.warm.wait().await;
    run.begin.wait().await;
    let deadline = run.options.duration().map(|duration| Instant::now() + duration);
    let mut sequence = 0;
    while deadline.is_none_or(|deadline| Instant::now() < deadline) && take(&run.left) {
        sequence += 1;
        let sent = Instant::now();
        let outcome = attempt(&run.options, &iteration, &mut channel, (number, sequence)).await;
        tally.record(sent.elapsed(), outcome);
    }
    tally
}

/// One iteration, on a new connection if there is none or the last one failed.
async fn attempt(
    options: &Options,
    iteration: &LoadCaseRunner<'_>,
    kept: &mut Option<LoadConnection>,
    (number, sequence): (u32, u64),
) -> Result<(), String> {
    let mut channel = match kept.take() {
        Some(channel) => channel,
        None => connect(options, number).await?,
    };
    iteration.run(&mut channel, sequence).await?;
    *kept = Some(channel);
    Ok(())
}

async fn connect(options: &Options, number: u32) -> Result<LoadConnection, String> {
    let mut channel = LoadConnection::connect(options.endpoint(number), options.era())
        .await
        .map_err(|error| format!("connect: {error}"))?;
    if options.case != LoadCase::Session {
        channel.open().await?;
    }
    Ok(channel)
}

fn take(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}
