//! What this program provides to the library of files.

use std::sync::OnceLock;

use files::{Cancel, Context, TerminalFilter};

use crate::term::screen::{self, Screen};
use crate::term::{message, signal};

/// The one context of the process.
pub(crate) fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        Context::default()
            .cancel(Cancel::new(signal::flag()))
            .terminal(filter)
            .before_temporary(|| signal::guard(files::temporary::remove_all))
            .leftover_removed(|name| {
                message::remark(&format!(
                    "'{name}' is removed: a run that was killed had left it"
                ));
            })
    })
}

/// The flag that ends waits at an interrupt.
pub(crate) fn cancel() -> &'static Cancel {
    context().cancelled()
}

/// What stands between content and a terminal, unless the user asked for the bytes as they are (`-f`).
fn filter() -> Option<Box<dyn TerminalFilter>> {
    (!screen::is_raw()).then(|| Box::new(Screen::default()) as Box<dyn TerminalFilter>)
}

impl TerminalFilter for Screen {
    fn show(&mut self, bytes: &[u8], out: &mut String) {
        Screen::show(self, bytes, out);
    }

    fn end(&mut self, out: &mut String) {
        Screen::end(self, out);
    }
}
