//! `cargo xtask dist`: builds what ships and packs it as a tarball and a Debian package, with their
//! checksums, in `target/dist`.
//!
//! The same sources give the same packages: every time stamp is that of the last commit (or
//! `SOURCE_DATE_EPOCH`), and the binary contains no path of the machine that built it. `--check`
//! packs the debug binary instead, so that CI verifies the packages without a slow build.

mod contents;
mod licences;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use self::contents::PackageFile;
use crate::VerbResult;
use crate::{shell, workspace};

/// The most that the binary may weigh.
const LIMIT: usize = 25_000_000;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Builds and packs, or with `--check` packs what is built already.
pub fn run(arguments: &[String]) -> VerbResult {
    match arguments {
        [] => dist(),
        [option] if option == "--check" => check(),
        _ => Err("usage: dist [--check]".to_owned()),
    }
}

fn dist() -> VerbResult {
    build()?;
    let binary = target().join("dist/toolgate");
    let size = fs::metadata(&binary).map_err(|error| failed(&binary, &error))?.len() as usize;
    if size > LIMIT {
        return Err(format!("the binary has {size} bytes, more than {LIMIT}"));
    }
    println!("binary: {:.1} MB", size as f64 / 1e6);
    let folder = target().join("dist");
    DistPackages { binary, folder, compression: ["gzip -n -9", "-Zxz"] }.make()
}

/// Packs the debug binary, as a test of everything but the build itself.
pub fn check() -> VerbResult {
    let folder = target().join("dist-check");
    let binary = target().join("debug/toolgate");
    DistPackages { binary, folder, compression: ["gzip -n -1", "-Znone"] }.make()
}

/// Builds the binary. Paths in it begin at the folder of the sources.
fn build() -> VerbResult {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let sources = cargo_home.unwrap_or_default().join("registry/src");
    let flags = [
        format!("--remap-path-prefix={}=", sources.display()),
        format!("--remap-path-prefix={}=.", workspace::root().display()),
        // The profile's own `strip` does not reach a package that has an override.
        "-Cstrip=symbols".to_owned(),
    ];
    let mut cargo = shell::cargo();
    cargo.args(["build", "--locked", "--profile", "dist", "--package", "toolgate-cli"]);
    shell::run(cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")))
}

fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or(workspace::root().join("target"), PathBuf::from)
}

/// What is packed, and where to.
struct DistPackages {
    binary: PathBuf,
    folder: PathBuf,
    /// The program for the tarball, and the option for the Debian package.
    compression: [&'static str; 2],
}

impl DistPackages {
    /// Packs everything, then installs both packages into scratch folders and runs them.
    fn make(&self) -> VerbResult {
        let files = contents::files(&self.binary)?;
        let tarball = self.tarball(&files)?;
        let deb = self.deb(&files)?;
        let names = [&tarball, &deb].map(|path| path.file_name().unwrap_or_default());
        let sums =
            shell::capture(shell::command("sha256sum").current_dir(&self.folder).args(names))?;
        write(&self.folder.join("SHA256SUMS"), sums.as_bytes())?;
        self.verify(&tarball, &deb, &files)?;
        print!("{sums}");
        Ok(())
    }

    fn tarball(&self, files: &[PackageFile]) -> Result<PathBuf, String> {
        let name = format!("toolgate-{VERSION}-{}-{}", env::consts::ARCH, env::consts::OS);
        let staged = self.fresh("tarball")?;
        for file in files {
            file.write(&staged.join(&name).join(&file.in_tarball))?;
        }
        let path = self.folder.join(format!("{name}.tar.gz"));
        let mut tar = shell::command("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
        tar.arg(format!("--mtime=@{}", time_stamp()?));
        tar.arg(format!("--use-compress-program={}", self.compression[0]));
        shell::run(tar.arg("--directory").arg(&staged).arg("-cf").arg(&path).arg(&name))?;
        Ok(path)
    }

    fn deb(&self, files: &[PackageFile]) -> Result<PathBuf, String> {
        let staged = self.fresh("deb")?;
        for file in files.iter().filter(|file| !file.in_debian.is_empty()) {
            file.write(&staged.join(&file.in_debian))?;
        }
        let architecture = shell::capture(shell::command("dpkg").arg("--print-architecture"))?;
        let architecture = architecture.trim();
        let control = contents::control(VERSION, architecture, files)?;
        write(&staged.join("DEBIAN/control"), control.as_bytes())?;
        let sums = shell::capture(
            shell::command("sh")
                .args(["-c", "find usr -type f | LC_ALL=C sort | xargs md5sum"])
                .current_dir(&staged),
        )?;
        write(&staged.join("DEBIAN/md5sums"), sums.as_bytes())?;
        let path = self.folder.join(format!("toolgate_{VERSION}_{architecture}.deb"));
        let mut pack = shell::command("dpkg-deb");
        pack.env("SOURCE_DATE_EPOCH", time_stamp()?).arg("--root-owner-group");
        pack.arg(self.compression[1]).arg("--build").arg(&staged).arg(&path);
        shell::run(&mut pack)?;
        Ok(path)
    }

    /// Unpacks both, compares their files, and asks each binary for its version.
    fn verify(&self, tarball: &Path, deb: &Path, files: &[PackageFile]) -> VerbResult {
        let unpacked = self.fresh("unpacked")?;
        let into = |folder: &Path, command: &str, first: &[&OsStr], last: &[&OsStr]| {
            fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
            shell::run(shell::command(command).args(first).arg(folder).args(last))
        };
        let (plain, root) = (unpacked.join("tarball"), unpacked.join("root"));
        let strip = ["--strip-components=1", "-xzf"].map(OsStr::new);
        into(&plain, "tar", &[strip[0], strip[1], tarball.as_os_str(), "-C".as_ref()], &[])?;
        into(&root, "dpkg-deb", &["--extract".as_ref(), deb.as_os_str()], &[])?;
        for file in files {
            same(&plain.join(&file.in_tarball), file)?;
            if !file.in_debian.is_empty() {
                same(&root.join(&file.in_debian), file)?;
            }
        }
        for program in [plain.join("toolgate"), root.join("usr/bin/toolgate")] {
            let version = shell::capture(shell::command(&program).arg("--version"))?;
            if version.trim() != format!("toolgate {VERSION}") {
                return Err(format!("{} says it is `{}`", program.display(), version.trim()));
            }
        }
        fs::remove_dir_all(&unpacked).map_err(|error| failed(&unpacked, &error))
    }

    /// An empty folder for one step.
    fn fresh(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join("packages").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        }
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        Ok(folder)
    }
}

fn same(path: &Path, file: &PackageFile) -> VerbResult {
    let found = fs::read(path).map_err(|error| failed(path, &error))?;
    match found == file.content {
        true => Ok(()),
        false => Err(format!("{} differs from what was packed", path.display())),
    }
}

/// The time that every file bears, in seconds since 1970.
fn time_stamp() -> Result<String, String> {
    if let Ok(given) = env::var("SOURCE_DATE_EPOCH") {
        return Ok(given);
    }
    let log = shell::capture(shell::command("git").args(["log", "-1", "--format=%ct"]))?;
    Ok(log.trim().to_owned())
}

fn write(path: &Path, content: &[u8]) -> VerbResult {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    fs::write(path, content).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
