//! The store on a full disk, and with little memory. The disk is a small one in memory that only a child
//! process sees; if the system does not allow mounting it, the test is `ignored`.
//! `PERFKIT_STORE_MIB` sets how much the other test stores; without it 48 MiB, in memory.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a child found out is told by its output"
)]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use fixcore::store::{Durability, Options, Store, StoreError};
    use libtest_mimic::{Arguments, Trial};

    /// The role of a child process, which is this program started again.
    const ROLE: &str = "PERFKIT_STORE_ROLE";
    const DIR: &str = "PERFKIT_STORE_DIR";
    const MIB: &str = "PERFKIT_STORE_MIB";
    const SEGMENT_BYTES: usize = 64 << 10;
    /// How much memory of its own a process may use while it stores more than that, in KiB.
    const MEMORY_KIB: u64 = 24 << 10;

    pub(super) fn main() {
        match std::env::var(ROLE).as_deref() {
            Ok("fill") => return fill(Path::new(&std::env::var(DIR).unwrap())),
            Ok("grow") => return grow(Path::new(&std::env::var(DIR).unwrap())),
            _ => {}
        }
        let mounts = Command::new("unshare")
            .args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let mounts = mounts.is_ok_and(|status| status.success());
        let trial = |name, here: bool, test: fn()| {
            let run = move || {
                test();
                Ok(())
            };
            Trial::test(name, run).with_ignored_flag(!here)
        };
        let trials = vec![
            trial(
                "a_full_disk_is_an_error_and_the_store_goes_on_when_there_is_room",
                mounts,
                full,
            ),
            trial("what_a_store_has_of_its_own_does_not_grow", true, large),
        ];
        libtest_mimic::run(&Arguments::from_args(), trials).exit();
    }

    /// Runs this program in a role, after a script that ends with `exec "$0"`.
    fn child(mut command: Command, role: &str, dir: &Path) {
        let output = command
            .arg(std::env::current_exe().unwrap())
            .env(ROLE, role)
            .env(DIR, dir)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{wrong}");
        assert!(said.contains("done"), "{said}{wrong}");
        eprint!("{said}");
    }

    fn full() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("unshare");
        let script = r#"mount -t tmpfs -o size=1m none "$PERFKIT_STORE_DIR" && exec "$0""#;
        command.args(["-rm", "sh", "-c", script]);
        child(command, "fill", dir.path());
    }

    fn options(durability: Durability, segment_bytes: usize) -> Options {
        let mut options = Options::default();
        (options.durability, options.segment_bytes) = (durability, segment_bytes);
        options
    }

    fn content(number: u64, bytes: usize) -> Vec<u8> {
        let word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        word.into_iter().cycle().take(bytes).collect()
    }

    /// Appends until an append fails.
    fn append_all(store: &mut Store) -> StoreError {
        loop {
            let number = store.next_sender();
            if let Err(error) = store.append(number, &content(number, 300)) {
                assert_eq!(store.next_sender(), number, "a failed call changes nothing");
                return error;
            }
        }
    }

    fn check(store: &Store) {
        let next = store.next_sender();
        let mut expected = 1;
        for (number, found) in store.range(1..=u64::MAX) {
            assert_eq!(number, expected);
            assert_eq!(found.unwrap(), content(number, 300));
            expected += 1;
        }
        assert_eq!(expected, next);
    }

    /// A store on a disk of 1 MiB, part of which another file occupies for a while.
    fn fill(dir: &Path) {
        let ballast = dir.join("ballast");
        for durability in [Durability::None, Durability::Batch, Durability::Message] {
            fs::write(&ballast, vec![1; 300 << 10]).unwrap();
            let path = dir.join("store");
            let mut store = Store::open(&path, options(durability, SEGMENT_BYTES)).unwrap();
            for _ in 0..2 {
                // The second time finds what the first left.
                let error = append_all(&mut store);
                assert!(error.is_full(), "{error}");
                assert!(error.to_string().contains(".segment"), "{error}");
                // Its own segments can be prepared, a new one cannot.
                let prepared = (0..9).find_map(|_| store.prepare(1 << 20).err());
                assert!(prepared.unwrap().is_full());
                assert!(store.reset(1, 1).unwrap_err().is_full());
                check(&store);
            }
            let small = store.next_sender();
            assert!(small > 1000, "{small}");
            drop(store);
            // It can be opened, read and synced without room.
            let mut store = Store::open(&path, options(durability, SEGMENT_BYTES)).unwrap();
            assert_eq!(store.next_sender(), small);
            store.sync().unwrap();
            check(&store);
            assert!(append_all(&mut store).is_full());
            fs::remove_file(&ballast).unwrap();
            assert!(append_all(&mut store).is_full());
            assert!(store.next_sender() > small + 500);
            check(&store);
            drop(store);
            for entry in fs::read_dir(&path).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(name == "lock" || name.ends_with(".segment"), "{name}");
            }
            println!("{durability:?}: {small} messages, then more");
            fs::remove_dir_all(&path).unwrap();
        }
        println!("done");
    }

    fn large() {
        let dir = match std::env::var_os(MIB) {
            Some(_) => tempfile::tempdir(),
            None => tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()),
        };
        let dir = dir.unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", &format!(r#"ulimit -d {MEMORY_KIB}; exec "$0""#)]);
        child(command, "grow", dir.path());
    }

    /// The memory of this process that is not mapped from files, in KiB.
    fn own_kib() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:"));
        let words = line.and_then(|line| line.split_whitespace().nth(1));
        words.unwrap().parse().unwrap()
    }

    /// A store larger than the memory that the process may use: written, read, opened again and read.
    fn grow(dir: &Path) {
        let mib = std::env::var(MIB).ok().and_then(|word| word.parse().ok());
        let messages = mib.unwrap_or(48_u64) << 10;
        let options = options(Durability::None, 4 << 20);
        let path = dir.join("store");
        let mut store = Store::open(&path, options.clone()).unwrap();
        let before = own_kib();
        for number in 1..=messages {
            store.append(number, &content(number, 1024)).unwrap();
        }
        let check = |store: &Store| {
            let mut count = 0;
            for (number, found) in store.range(1..=u64::MAX) {
                count += 1;
                assert_eq!(number, count);
                assert_eq!(found.unwrap()[..8], content(number, 8));
            }
            assert_eq!(count, messages);
        };
        check(&store);
        drop(store);
        let store = Store::open(&path, options).unwrap();
        check(&store);
        let after = own_kib();
        assert!(after < before + 1024, "{before} KiB, then {after} KiB");
        let shown = messages >> 10;
        println!("{shown} MiB of messages, {before} KiB of memory, then {after} KiB");
        println!("done");
    }
}
