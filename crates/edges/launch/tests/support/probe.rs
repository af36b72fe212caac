//! Four roles for the tests of this crate, by its first argument: its own helper, a launched child
//! that tells what it sees (`facts`), a confined task (`task`), and a gateway that waits to be killed
//! (`gateway`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test program")]

use std::io::{BufRead, Read};
use std::process::ExitCode;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use toolgate_launch::{ChildProcess, LaunchHelperProgram, LaunchSpec, Launcher, TreeGuarantee};

fn main() -> ExitCode {
    if let Some(code) = toolgate_launch::helper_main() {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["facts"] => facts(),
        ["task", what] => return task(what),
        ["gateway", mode, marker, scripts @ ..] => gateway(mode, marker, scripts),
        other => panic!("no such role: {other:?}"),
    }
    ExitCode::SUCCESS
}

/// One fact a line, as `name value`, then an echo of stdin.
fn facts() {
    let mut fds: Vec<i32> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .map(|entry| entry.unwrap())
        // The listing itself holds one descriptor open, which leads to this very folder.
        .filter(|entry| !std::fs::read_link(entry.path()).is_ok_and(|to| to.ends_with("fd")))
        .map(|entry| entry.file_name().to_str().unwrap().parse().unwrap())
        .collect();
    fds.sort_unstable();
    println!("fds {fds:?}");
    println!("cwd {}", std::env::current_dir().unwrap().display());
    println!("arg0 {}", std::env::args().next().unwrap());
    println!("tty {}", std::fs::File::open("/dev/tty").is_ok());
    for (name, value) in std::env::vars() {
        println!("env {name}={value}");
    }
    println!("end");
    let mut rest = String::new();
    std::io::stdin().lock().read_to_string(&mut rest).unwrap();
    print!("{rest}");
}

/// Well-behaved or not.
fn task(what: &str) -> ExitCode {
    match what {
        "echo" => {
            std::io::copy(&mut std::io::stdin().lock(), &mut std::io::stdout().lock()).unwrap();
        }
        "env" => print!("{}", std::env::vars().count()),
        "spin" => loop {
            std::hint::black_box(0);
        },
        "sleep" => std::thread::sleep(std::time::Duration::from_secs(600)),
        "eat" => {
            let eaten = vec![1_u8; 4 << 30];
            println!("{}", std::hint::black_box(eaten).len());
        }
        "flood" => loop {
            println!("{}", "all work and no play ".repeat(1000));
        },
        "write" => {
            let file = std::env::temp_dir().join("toolgate-launch-task");
            std::fs::write(file, "not allowed").unwrap();
        }
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

/// Starts one `sh -c` per script, waits for a line from each, says so, and stays.
fn gateway(mode: &str, marker: &str, scripts: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ceiling = match mode {
            "namespace" => TreeGuarantee::Namespace,
            _ => TreeGuarantee::Subreaper,
        };
        let launcher = Launcher::new(LaunchHelperProgram::current()).with_ceiling(ceiling);
        assert_eq!(launcher.guarantee(), ceiling, "{}", launcher.guarantee());
        let mut children = Vec::new();
        for script in scripts {
            let command =
                LaunchSpec::new("sh").args(["-c", script]).env("MARKER", marker).label(marker);
            children.push(up(launcher.start(&command).await.unwrap()).await);
        }
        for child in &mut children {
            // A script that waits for this reads it; the others ignore it.
            let _ = child.stdin.write_all(b"go\n").await;
        }
        println!("ready");
        // The test kills this process; end of input is for the case that the test itself died.
        std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    });
}

async fn up(mut child: ChildProcess) -> ChildProcess {
    let mut line = String::new();
    BufReader::new(&mut child.stdout).read_line(&mut line).await.unwrap();
    assert_eq!(line, "up\n", "stderr: {}", child.handle.stderr().tail());
    child
}
