//! The NIF of the examples, where Erlang is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;

use crate::programs::{header, library, run, works};
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    let include = include();
    let here = works("cc") && works_erlc() && include.is_some();
    let include = include.unwrap_or_default();
    vec![trial("erlang::every_function_answers", here, move || {
        every_function_answers(&include);
    })]
}

fn works_erlc() -> bool {
    // Without a file it fails, but it runs.
    cfg!(target_os = "linux") && Command::new("erlc").output().is_ok()
}

/// Where the header of NIFs is.
fn include() -> Option<PathBuf> {
    let print = "io:put_chars(code:root_dir()),halt().";
    let output = Command::new("erl")
        .args(["-noshell", "-eval", print])
        .output()
        .ok()?;
    let root = String::from_utf8(output.stdout).ok()?;
    let include = Path::new(&root).join("usr/include");
    include.join("erl_nif.h").exists().then_some(include)
}

fn every_function_answers(include: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/erlang");
    for name in ["erl_betree.erl", "check.escript"] {
        std::fs::copy(examples.join(name), folder.path().join(name)).unwrap();
    }
    let library = library();
    let mut compile = Command::new("cc");
    compile.args([
        "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
    ]);
    compile.arg("-I").arg(header()).arg("-I").arg(include);
    compile.arg(examples.join("betree_nif.c"));
    compile.arg("-L").arg(&library).arg("-lbetree_c");
    compile.arg(format!("-Wl,-rpath,{}", library.display()));
    compile.arg("-o").arg(folder.path().join("betree_nif.so"));
    run(&mut compile);
    run(Command::new("erlc")
        .arg("erl_betree.erl")
        .current_dir(&folder));
    let output = run(Command::new("escript")
        .arg("check.escript")
        .current_dir(&folder));
    assert_eq!(output, "every function answers as it should\n");
}
