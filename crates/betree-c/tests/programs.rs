//! Programs in C, compiled as C and as C++ with all warnings as errors, against the header and the library.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::Trial;

use crate::trial;

const C: [&str; 2] = ["cc", "-std=c99"];
const CPP: [&str; 2] = ["c++", "-std=c++11"];

pub(crate) fn trials() -> Vec<Trial> {
    let cc = works("cc");
    let cpp = works("c++");
    vec![
        trial("programs::users_in_c", cc, || users(C)),
        trial("programs::users_in_cpp", cpp, || users(CPP)),
        trial("programs::everything_in_c", cc, || everything(C)),
        trial("programs::everything_in_cpp", cpp, || everything(CPP)),
    ]
}

fn users(compiler: [&str; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(compiler, "users.c", folder.path());
    let output = run(&mut Command::new(program));
    assert_eq!(output, "1 matches\nsubscription 1\n");
}

fn everything(compiler: [&str; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(compiler, "everything.c", folder.path());
    let output = run(Command::new(program).arg(folder.path().join("tree")));
    assert_eq!(output, "0 failures\n");
}

pub(crate) fn works(compiler: &str) -> bool {
    let mut command = Command::new(compiler);
    command.arg("--version");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    cfg!(target_os = "linux") && command.status().is_ok_and(|status| status.success())
}

/// The folder of the library, which is built along with this test.
pub(crate) fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().unwrap().to_path_buf();
    assert!(folder.join("libbetree_c.so").exists(), "{folder:?}");
    folder
}

/// The folder of the header.
pub(crate) fn header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

fn compile([compiler, standard]: [&str; 2], source: &str, folder: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library();
    let program = folder.join("program");
    let mut command = Command::new(compiler);
    command.args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-g"]);
    if compiler == "c++" {
        command.args(["-x", "c++"]);
    }
    command.arg(here.join("tests/c").join(source));
    command.args(["-x", "none", "-I"]).arg(header());
    command.arg("-L").arg(&library).arg("-lbetree_c");
    command.arg(format!("-Wl,-rpath,{}", library.display()));
    command.arg("-o").arg(&program);
    run(&mut command);
    program
}

pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}
