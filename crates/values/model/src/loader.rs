//! Environment variables that determine which code a process loads.

/// Complete names.
const NAMES: [&str; 44] = [
    "PATH",
    "HOME",
    "SHELL",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "IFS",
    "PS4",
    "PROMPT_COMMAND",
    "ZDOTDIR",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "RUBYOPT",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "PERLLIB",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "CLASSPATH",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE",
    "R_PROFILE_USER",
    "R_LIBS",
    "R_LIBS_USER",
    "GCONV_PATH",
    "LOCPATH",
    "GLIBC_TUNABLES",
    "GOFLAGS",
    "VIRTUAL_ENV",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
];
/// Prefixes of the names of whole families.
const FAMILIES: [&str; 19] = [
    "LD_",
    "DYLD_",
    "PYTHON",
    "LUA_",
    "GIT_",
    "NPM_CONFIG_",
    "YARN_",
    "PNPM_",
    "UV_",
    "PIP_",
    "PIPX_",
    "BUN_",
    "DENO_",
    "CARGO_",
    "DOTNET_",
    "CORECLR_",
    "DOCKER_",
    "BUNDLE_",
    "XDG_",
];

/// Returns true if a variable of this name can make a process load or run other code. Such a
/// variable counts as part of the command.
pub fn is_loader_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str()) || FAMILIES.iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loads_code_is_told_from_what_does_not() {
        for name in ["PATH", "LD_PRELOAD", "PYTHONPATH", "NODE_OPTIONS", "npm_config_registry"] {
            assert!(is_loader_variable(name), "{name}");
        }
        for name in ["LOG_LEVEL", "GITHUB_TOKEN", "DATA_PATH", "HOMEPAGE", ""] {
            assert!(!is_loader_variable(name), "{name}");
        }
    }
}
