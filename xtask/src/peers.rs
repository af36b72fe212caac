//! Installs the released peers: npm and Python packages at the exact versions of the lock files
//! under `tests/peers`.
//!
//! Everything is installed under `target/peers`. Each folder contains a copy of its lock file, so a
//! second run installs nothing, and a changed lock file installs again. The install scripts of the
//! packages do not run.

use std::path::{Path, PathBuf};
use std::time::Instant;

use toolgate_e2e::peers::{self, NPM_FOLDERS, PYTHON_FOLDERS};

use crate::VerbResult;
use crate::{shell, workspace};

/// Installs what is missing.
pub fn install() -> VerbResult {
    for name in NPM_FOLDERS {
        let lock = source().join(name).join("package-lock.json");
        once(name, &lock, |folder| npm(&source().join(name), folder))?;
    }
    for name in PYTHON_FOLDERS {
        let lock = source().join("python").join(format!("{name}.txt"));
        once(&format!("python-{name}"), &lock, |folder| python(&lock, folder))?;
    }
    schemas()
}

/// The protocol's schemas, out of the suite that bundles them; quick, so it needs no stamp.
fn schemas() -> VerbResult {
    let (node, suite) = (peers::node(), peers::conformance(NPM_FOLDERS[0]));
    let mut extract = shell::command(node.map_err(|error| error.to_string())?);
    extract.arg(peers::script("schemas.mjs")).arg(suite.map_err(|error| error.to_string())?);
    shell::run(extract.arg(peers::root().join("schemas")))
}

fn source() -> PathBuf {
    workspace::root().join("tests").join("peers")
}

/// Runs `install` unless the folder's stamp equals the lock file.
fn once(name: &str, lock: &Path, install: impl Fn(&Path) -> VerbResult) -> VerbResult {
    let folder = peers::root().join(name);
    let stamp = folder.join("installed.lock");
    let wanted = std::fs::read(lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    if std::fs::read(&stamp).is_ok_and(|had| had == wanted) {
        eprintln!("peers: {name} is installed");
        return Ok(());
    }
    let begun = Instant::now();
    eprintln!("peers: installing {name} into {}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| format!("{name}: {error}"))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{name}: {error}"))?;
    install(&folder).map_err(|reason| format!("cannot install the peers `{name}`: {reason}"))?;
    std::fs::write(&stamp, wanted).map_err(|error| format!("{name}: {error}"))?;
    eprintln!("peers: {name} took {:.0?}", begun.elapsed());
    Ok(())
}

fn npm(source: &Path, folder: &Path) -> VerbResult {
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(source.join(file), folder.join(file))
            .map_err(|error| format!("{file}: {error}"))?;
    }
    let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    shell::run(shell::command("npm").args(options).current_dir(folder))
}

fn python(lock: &Path, folder: &Path) -> VerbResult {
    virtual_environment(folder)?;
    let options = ["install", "--quiet", "--disable-pip-version-check", "--require-hashes"];
    let mut pip = shell::command(folder.join("bin").join("python"));
    shell::run(pip.args(["-m", "pip"]).args(options).arg("--no-deps").arg("-r").arg(lock))
}

/// Debian splits `venv` from Python itself; where it is missing, the package manager is asked once.
fn virtual_environment(folder: &Path) -> VerbResult {
    let make = || shell::run(shell::command("python3").args(["-m", "venv", "--clear"]).arg(folder));
    make().or_else(|reason| {
        eprintln!("peers: {reason}; trying Debian's python3-venv");
        let mut apt = shell::command("apt-get");
        shell::run(apt.args(["install", "--yes", "--no-install-recommends", "python3-venv"]))
            .map_err(|apt| format!("{reason}; and {apt}"))?;
        make()
    })
}
