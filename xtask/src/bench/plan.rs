//! The cases of the benchmark, and the selection by the command line. The targets are in `figures`.

use std::path::PathBuf;

use super::listing;
use super::pinning::CpuCoreLayout;

/// How to call the benchmark.
pub const USAGE: &str = "\
usage: cargo xtask bench [options]
  --quick            a tenth of the calls
  --rounds N         interleaved rounds, medians are taken over them (default 5)
  --only CASE        only this case; may be repeated
  --without-gateway  only the upstream directly and through the floor
  --pin LAYOUT       split (default: what is measured on its own core), together or free
  --toolgate FILE    measure this gateway, for comparing two builds
  --no-build         use the binaries that are there
  --instructions     count the gateway's instructions per call instead, with valgrind
  --name NAME        write target/bench/NAME.json (default: latest)
  --write            put the table into docs/benchmarks.md (full runs only)";

/// One case of the benchmark.
#[derive(Clone, Copy, Debug)]
pub struct BenchCase {
    /// Its name on the command line and in the table.
    pub name: &'static str,
    /// What it is, for the table.
    pub about: &'static str,
    /// The load generator's name for it.
    pub load: &'static str,
    /// Connections at the same time.
    pub concurrency: u32,
    /// Measured calls per run.
    pub calls: u32,
    /// How many tools the upstream has.
    pub tools: u32,
    /// Which ways to the upstream are compared.
    pub ways: BenchDimension,
}

/// The dimension in which the targets of a case differ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BenchDimension {
    /// Direct, through the floor, and through the gateway with an upstream over HTTP or stdio.
    Carriers,
    /// The eras of the client and of the upstream of a gateway over HTTP.
    Eras,
    /// The same, with a separate profile for each caller.
    Profiles,
}

/// The tools of an upstream that is not about lists.
const FEW: u32 = 3;
/// The tools of an upstream that is.
const MANY: u32 = 1000;

/// The case that compares the eras.
pub const ERAS: &str = "eras-c32";

/// The case with several profiles in use.
pub const PROFILES: &str = "list1000-p4";

/// Every case.
#[rustfmt::skip]
pub const CASES: [BenchCase; 8] = [
    BenchCase { name: "echo-c1", about: "echo 100 B, 1 caller", load: "echo", concurrency: 1, calls: 20_000, tools: FEW, ways: BenchDimension::Carriers },
    BenchCase { name: "echo-c32", about: "echo 100 B, 32 callers", load: "echo", concurrency: 32, calls: 50_000, tools: FEW, ways: BenchDimension::Carriers },
    BenchCase { name: "blob64k-c8", about: "64 KiB result, 8 callers", load: "blob", concurrency: 8, calls: 10_000, tools: FEW, ways: BenchDimension::Carriers },
    BenchCase { name: "list1000-c1", about: "tools/list of 1000, 1 caller", load: "list", concurrency: 1, calls: 1_000, tools: MANY, ways: BenchDimension::Carriers },
    BenchCase { name: "list1000-c4", about: "tools/list of 1000, 4 callers", load: "list", concurrency: 4, calls: 1_000, tools: MANY, ways: BenchDimension::Carriers },
    BenchCase { name: PROFILES, about: "tools/list of 1000, 4 callers, 4 profiles", load: "list", concurrency: 4, calls: 1_000, tools: MANY, ways: BenchDimension::Profiles },
    BenchCase { name: "session-c8", about: "new session + list, 8 callers", load: "session", concurrency: 8, calls: 4_000, tools: FEW, ways: BenchDimension::Carriers },
    BenchCase { name: ERAS, about: "echo 100 B, 32 callers, by era", load: "echo", concurrency: 32, calls: 50_000, tools: FEW, ways: BenchDimension::Eras },
];

/// The plan of one benchmark.
#[derive(Debug)]
pub struct BenchPlan {
    /// The cases, in order.
    pub cases: Vec<BenchCase>,
    /// Whether reading many files is measured.
    pub listing: bool,
    /// How often each is measured.
    pub rounds: u32,
    /// Whether the gateway takes part.
    pub gateway: bool,
    /// The gateway to measure, if it is not the one built from this tree.
    pub toolgate: Option<PathBuf>,
    /// How processes are bound to cores.
    pub layout: CpuCoreLayout,
    /// Whether instructions are counted instead of time.
    pub instructions: bool,
    /// Whether to build first.
    pub build: bool,
    /// Whether the documentation gets the table.
    pub write: bool,
    /// The name of the results.
    pub name: String,
}

impl BenchPlan {
    /// Reads the command line.
    pub fn parse(args: &[String]) -> Result<Self, String> {
        let mut plan = BenchPlan {
            cases: Vec::new(),
            listing: false,
            rounds: 5,
            gateway: true,
            toolgate: None,
            layout: CpuCoreLayout::Split,
            instructions: false,
            build: true,
            write: false,
            name: "latest".to_owned(),
        };
        let mut quick = false;
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg {
                "--quick" => quick = true,
                "--rounds" => plan.rounds = rounds(value()?)?,
                "--only" => match value()? {
                    listing::NAME => plan.listing = true,
                    name => plan.cases.push(case(name)?),
                },
                "--without-gateway" => plan.gateway = false,
                "--toolgate" => plan.toolgate = Some(file(value()?)?),
                "--pin" => plan.layout = CpuCoreLayout::parse(value()?)?,
                "--instructions" => plan.instructions = true,
                "--no-build" => plan.build = false,
                "--write" => plan.write = true,
                "--name" => plan.name = value()?.to_owned(),
                _ => return Err(format!("unknown argument {arg:?}\n{USAGE}")),
            }
        }
        let chosen = !plan.cases.is_empty() || plan.listing;
        let partial = quick || chosen || !plan.gateway || plan.instructions;
        if plan.write && (partial || plan.toolgate.is_some()) {
            return Err(
                "only a full run of this tree may be written into the documentation".to_owned()
            );
        }
        if !chosen {
            plan.cases = CASES.to_vec();
            plan.listing = plan.gateway;
        }
        if quick {
            plan.cases.iter_mut().for_each(|case| case.calls = (case.calls / 10).max(100));
        }
        Ok(plan)
    }
}

/// Servers start in the workspace's root, so a path is made absolute here.
fn file(path: &str) -> Result<PathBuf, String> {
    std::fs::canonicalize(path).map_err(|error| format!("cannot find {path}: {error}"))
}

fn rounds(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(rounds) if rounds > 0 => Ok(rounds),
        _ => Err(format!("--rounds must be a positive number, got {text:?}")),
    }
}

fn case(name: &str) -> Result<BenchCase, String> {
    CASES.iter().find(|case| case.name == name).copied().ok_or_else(|| {
        let known: Vec<&str> = CASES.iter().map(|case| case.name).chain([listing::NAME]).collect();
        format!("no case {name:?}; there are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<BenchPlan, String> {
        BenchPlan::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn without_arguments_everything_is_measured_five_times() {
        let plan = parse("").unwrap();
        assert_eq!((plan.cases.len(), plan.rounds, plan.gateway), (CASES.len(), 5, true));
        assert!(plan.listing);
    }

    #[test]
    fn reading_files_can_be_measured_alone() {
        let plan = parse("--only list-offline").unwrap();
        assert!(plan.listing && plan.cases.is_empty());
        assert!(!parse("--only echo-c1").unwrap().listing);
        assert!(parse("--write --only list-offline").is_err());
    }

    #[test]
    fn a_part_of_the_run_cannot_be_written_into_the_documentation() {
        assert!(parse("--write").is_ok());
        for partial in
            ["--quick", "--only echo-c1", "--without-gateway", "--instructions", "--toolgate ."]
        {
            assert!(parse(&format!("--write {partial}")).is_err(), "{partial}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for bad in ["--fast", "--rounds", "--rounds 0", "--only nothing", "--pin tight"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
