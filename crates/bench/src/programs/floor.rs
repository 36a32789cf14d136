//! What starting a process takes that does nothing: the floor of the times of processes.

use std::process::{Command, Stdio};

use latency::compare::median;

use super::Launch;

/// Processes that are started for it.
const STARTS: u32 = 11;

/// Starts a process that does nothing several times, and returns the median of what that took, in nanoseconds. `None`
/// where there is no such program, or the caller asked to stop.
pub fn start_floor(launch: &mut impl Launch) -> Option<f64> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let ran = launch.launch(&mut nothing()).ok().flatten()?;
        if !ran.succeeded {
            return None;
        }
        times.push(ran.wall_ns);
    }
    median(&times)
}

/// A command that does nothing.
fn nothing() -> Command {
    let mut command = match cfg!(windows) {
        true => {
            let mut command = Command::new("cmd.exe");
            command.args(["/C", "exit"]);
            command
        }
        false => Command::new("true"),
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::super::Ran;
    use super::*;

    type Answer = fn() -> io::Result<Option<Ran>>;

    /// Takes 1, 2, 3 … ms, up to a call that is answered otherwise.
    struct Rising {
        calls: u32,
        ends: Option<(u32, Answer)>,
    }

    impl Launch for Rising {
        fn launch(&mut self, _: &mut Command) -> io::Result<Option<Ran>> {
            self.calls += 1;
            match self.ends {
                Some((at, answer)) if at == self.calls => answer(),
                _ => Ok(Some(Ran {
                    wall_ns: f64::from(self.calls) * 1e6,
                    succeeded: true,
                    ..Ran::default()
                })),
            }
        }
    }

    #[test]
    fn the_floor_is_the_median_of_what_a_process_takes_that_does_nothing() {
        let mut launch = Rising {
            calls: 0,
            ends: None,
        };
        assert_eq!(start_floor(&mut launch), Some(6e6));
        assert_eq!(launch.calls, STARTS);
    }

    #[test]
    fn without_such_a_program_there_is_no_floor() {
        let answers: [Answer; 3] = [
            || Err(io::ErrorKind::NotFound.into()),
            || Ok(None),
            || Ok(Some(Ran::default())),
        ];
        for (at, answer) in (1..).zip(answers) {
            let mut launch = Rising {
                calls: 0,
                ends: Some((at, answer)),
            };
            assert_eq!(start_floor(&mut launch), None);
            assert_eq!(launch.calls, at);
        }
    }
}
