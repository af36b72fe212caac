//! What the packages contain, and where each of them puts it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{failed, licences, write};
use crate::VerbResult;
use crate::{shell, workspace};

/// One file of the packages.
pub struct PackageFile {
    /// Its path in the tarball, below the folder with the version.
    pub in_tarball: String,
    /// Its path in the Debian package; empty if it is not part of it.
    pub in_debian: String,
    pub content: Vec<u8>,
    mode: u32,
}

impl PackageFile {
    fn text(in_tarball: &str, in_debian: &str, content: impl Into<Vec<u8>>) -> Self {
        let [in_tarball, in_debian] = [in_tarball, in_debian].map(str::to_owned);
        Self { in_tarball, in_debian, content: content.into(), mode: 0o644 }
    }

    /// Writes it at a path.
    pub fn write(&self, path: &Path) -> VerbResult {
        write(path, &self.content)?;
        let mode = fs::Permissions::from_mode(self.mode);
        fs::set_permissions(path, mode).map_err(|error| failed(path, &error))
    }
}

/// The completion scripts: the shell, and its file in each package. Debian has no folder for the
/// last two.
const COMPLETIONS: [(&str, &str, &str); 5] = [
    ("bash", "toolgate.bash", "usr/share/bash-completion/completions/toolgate"),
    ("zsh", "_toolgate", "usr/share/zsh/vendor-completions/_toolgate"),
    ("fish", "toolgate.fish", "usr/share/fish/vendor_completions.d/toolgate.fish"),
    ("elvish", "toolgate.elv", ""),
    ("powershell", "_toolgate.ps1", ""),
];

/// Every file of the packages. The binary writes its manual pages and completions itself.
pub fn files(binary: &Path) -> Result<Vec<PackageFile>, String> {
    let read = |path: &Path| fs::read(path).map_err(|error| failed(path, &error));
    let doc = "usr/share/doc/toolgate";
    let program = PackageFile::text("toolgate", "usr/bin/toolgate", read(binary)?);
    let mut files = vec![PackageFile { mode: 0o755, ..program }];
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        let content = read(&workspace::root().join(name))?;
        files.push(PackageFile::text(name, &format!("{doc}/{name}"), content));
    }
    let third_party = licences::third_party()?;
    files.push(PackageFile::text(
        "THIRD-PARTY.txt",
        &format!("{doc}/THIRD-PARTY.txt"),
        third_party,
    ));
    for (shell, name, in_debian) in COMPLETIONS {
        let script = shell::capture(shell::command(binary).args(["completions", shell]))?;
        files.push(PackageFile::text(&format!("completions/{name}"), in_debian, script));
    }
    for (name, page) in manual(binary)? {
        let path = format!("man/man1/{name}");
        files.push(PackageFile::text(&path, &format!("usr/share/{path}"), page));
    }
    Ok(files)
}

/// The manual pages by file name.
fn manual(binary: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let folder = std::env::temp_dir().join(format!("toolgate-man-{}", std::process::id()));
    let listed = shell::capture(shell::command(binary).arg("man").arg(&folder))?;
    let mut pages = Vec::new();
    for path in listed.lines().map(PathBuf::from) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        pages.push((name, fs::read(&path).map_err(|error| failed(&path, &error))?));
    }
    fs::remove_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    Ok(pages)
}

/// The control file of the Debian package.
pub fn control(version: &str, architecture: &str, files: &[PackageFile]) -> Result<String, String> {
    let glibc = glibc(&files[0].content).ok_or("the binary does not name a version of glibc")?;
    let packed = files.iter().filter(|file| !file.in_debian.is_empty());
    let kilobytes = packed.map(|file| file.content.len().div_ceil(1024)).sum::<usize>();
    Ok(format!(
        "Package: toolgate\nVersion: {version}\nArchitecture: {architecture}\nSection: utils\n\
         Priority: optional\nInstalled-Size: {kilobytes}\n\
         Depends: libc6 (>= {glibc}), libgcc-s1\nRecommends: ca-certificates\n\
         Maintainer: The Toolgate authors <toolgate@example.invalid>\n\
         Description: one gate between AI agents and MCP servers\n \
         Toolgate serves all your MCP servers through one endpoint. It decides about\n \
         every call, asks for approval, pins definitions and records what happened.\n"
    ))
}

/// The newest version of glibc that a binary asks for.
fn glibc(binary: &[u8]) -> Option<String> {
    let starts = binary.windows(6).enumerate().filter(|(_, text)| text == b"GLIBC_");
    let versions = starts.filter_map(|(start, _)| {
        let text = &binary[start + 6..];
        let end = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let (major, minor) = std::str::from_utf8(&text[..end]).ok()?.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.split('.').next()?.parse::<u32>().ok()?))
    });
    versions.max().map(|(major, minor)| format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::glibc;

    #[test]
    fn the_newest_glibc_is_the_one_needed() {
        let binary = b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0GLIBC_PRIVATE\0";
        assert_eq!(glibc(binary).as_deref(), Some("2.34"));
        assert_eq!(glibc(b"static"), None);
    }
}
