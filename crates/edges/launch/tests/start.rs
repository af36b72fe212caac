//! Tests what a child finds when it starts (environment, descriptors, folder, session), and the
//! errors when it cannot start.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;

use support::{ALL, GUARDED, PROBE, launcher, line, marked, marker, output, session_of};
use tokio::io::AsyncWriteExt;
use toolgate_launch::{
    ALLOWED, LaunchError, LaunchHelperProgram, LaunchSpec, Launcher, TreeGuarantee,
};
use toolgate_model::CodedError as _;

async fn facts(launcher: &Launcher, command: LaunchSpec) -> Vec<String> {
    let mut child = launcher.start(&command.args(["facts"])).await.unwrap();
    let mut facts = Vec::new();
    loop {
        match line(&mut child).await.as_str() {
            "end" => return facts,
            "" => panic!("ended early: {}", child.handle.stderr().tail()),
            fact => facts.push(fact.to_owned()),
        }
    }
}

#[tokio::test]
async fn a_child_sees_only_allowed_and_named_variables() {
    for guarantee in ALL {
        let command = LaunchSpec::new(PROBE).env("NAMED", "a value = with signs");
        let facts = facts(&launcher(guarantee), command).await;
        let names: Vec<&str> = facts
            .iter()
            .filter_map(|fact| Some(fact.strip_prefix("env ")?.split_once('=')?.0))
            .collect();
        assert!(names.contains(&"PATH"), "{names:?}");
        assert!(facts.contains(&"env NAMED=a value = with signs".to_owned()));
        for name in names.into_iter().filter(|name| *name != "NAMED") {
            let allowed = ALLOWED.iter().any(|allowed| match allowed.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == *allowed,
            });
            // cargo and nextest give this test dozens of variables that must not arrive.
            assert!(allowed, "{name} reached the child");
        }
    }
}

#[tokio::test]
async fn the_secrets_of_a_server_are_not_those_of_its_helpers() {
    let marker = marker("secret");
    let command = LaunchSpec::new("sh").args(["-c", "echo up; read line"]).env("TOKEN", &marker);
    for guarantee in GUARDED {
        let mut child = launcher(guarantee).start(&command).await.unwrap();
        assert_eq!(line(&mut child).await, "up");
        assert_eq!(marked(&marker), [child.handle.pid()], "{guarantee:?}");
    }
}

#[tokio::test]
async fn variables_named_by_a_pattern_are_inherited() {
    let mut command = LaunchSpec::new(PROBE);
    command.env_inherit = vec!["CARGO_MANIFEST_*".to_owned()];
    let facts = facts(&launcher(TreeGuarantee::Namespace), command).await;
    let inherited = format!("env CARGO_MANIFEST_DIR={}", env!("CARGO_MANIFEST_DIR"));
    assert!(facts.contains(&inherited), "{facts:?}");
}

#[tokio::test]
async fn a_child_has_no_descriptor_but_its_three_pipes() {
    // One that a careless embedder left open over exec.
    let (leaked, _writer) = std::io::pipe().unwrap();
    rustix::io::fcntl_setfd(leaked.as_fd(), rustix::io::FdFlags::empty()).unwrap();
    for guarantee in ALL {
        let facts = facts(&launcher(guarantee), LaunchSpec::new(PROBE)).await;
        assert!(facts.contains(&"fds [0, 1, 2]".to_owned()), "{guarantee:?}: {facts:?}");
    }
}

#[tokio::test]
async fn a_child_runs_in_its_folder_under_the_name_it_was_called_by() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    for guarantee in ALL {
        let facts = facts(&launcher(guarantee), LaunchSpec::new(PROBE).cwd(folder.path())).await;
        assert!(facts.contains(&format!("cwd {}", real.display())), "{facts:?}");
        assert!(facts.contains(&format!("arg0 {PROBE}")), "{facts:?}");
    }
}

#[tokio::test]
async fn a_child_has_a_session_of_its_own_and_no_terminal() {
    let own = session_of(std::process::id());
    for guarantee in ALL {
        let child =
            launcher(guarantee).start(&LaunchSpec::new(PROBE).args(["facts"])).await.unwrap();
        assert_ne!(session_of(child.handle.pid()), own, "{guarantee:?}");
        let facts = facts(&launcher(guarantee), LaunchSpec::new(PROBE)).await;
        assert!(facts.contains(&"tty false".to_owned()), "{facts:?}");
    }
}

#[tokio::test]
async fn the_pipes_carry_everything_and_their_end() {
    for guarantee in ALL {
        let mut child = launcher(guarantee).start(&LaunchSpec::new("cat")).await.unwrap();
        let sent = "0123456789abcdef".repeat(64 * 1024);
        let mut stdin = child.stdin;
        let written = tokio::spawn({
            let sent = sent.clone();
            async move { stdin.write_all(sent.as_bytes()).await.unwrap() }
        });
        let mut received = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut child.stdout, &mut received).await.unwrap();
        written.await.unwrap();
        assert_eq!(received, sent);
        assert!(child.handle.wait().await.success());
    }
}

#[tokio::test]
async fn a_closed_stdout_is_seen_while_the_child_still_runs() {
    let closed = LaunchSpec::new("sh").args(["-c", "exec >&-; read line"]);
    for guarantee in ALL {
        let mut child = launcher(guarantee).start(&closed).await.unwrap();
        assert_eq!(output(&mut child).await, "");
        assert!(child.handle.exit_status().is_none());
    }
}

#[tokio::test]
async fn a_missing_program_is_an_error_and_not_an_exit() {
    for guarantee in ALL {
        let error =
            launcher(guarantee).start(&LaunchSpec::new("no-such-program")).await.unwrap_err();
        assert!(matches!(error, LaunchError::NotFound { .. }));
        assert!(error.to_string().contains("no-such-program"), "{error}");
    }
}

#[tokio::test]
async fn a_script_without_its_interpreter_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    for guarantee in ALL {
        let error = launcher(guarantee).start(&LaunchSpec::new(&script)).await.unwrap_err();
        assert!(matches!(error, LaunchError::Exec { .. }), "{error}");
        assert!(error.hint().unwrap().contains("interpreter"), "{error}");
    }
}

#[tokio::test]
async fn a_program_that_is_no_helper_is_not_trusted_to_be_one() {
    for helper in [
        LaunchHelperProgram::at_path("/bin/echo"),
        LaunchHelperProgram::at_path("/no/such/file"),
        LaunchHelperProgram::current(),
    ] {
        let launcher = Launcher::new(helper);
        assert_eq!(launcher.guarantee(), TreeGuarantee::ProcessGroup);
        let mut child = launcher.start(&LaunchSpec::new("echo").args(["works"])).await.unwrap();
        assert_eq!(output(&mut child).await, "works\n");
    }
}

#[tokio::test]
async fn other_children_that_end_do_not_weaken_the_guarantee() {
    // The first start installs the handler whose signal interrupts.
    launcher(TreeGuarantee::Namespace).start(&LaunchSpec::new("true")).await.unwrap();
    let others = std::thread::spawn(|| {
        for _ in 0..200 {
            #[expect(clippy::disallowed_methods, reason = "a child that is none of ours")]
            std::process::Command::new("true").status().unwrap();
        }
    });
    while !others.is_finished() {
        launcher(TreeGuarantee::Namespace);
    }
    others.join().unwrap();
}
