//! The nouns of each command, for the first line of its report: what it did some of, and what its bytes
//! are. By the kind of work, so that a report that is read back says the same.

/// What the bytes of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Volume {
    /// What was read became what was written: a ratio means something.
    Converted {
        /// Whether content is what was written, and not what was read.
        expands: bool,
    },
    /// What was read, and what else there was: it is called so.
    Apart(&'static str),
}

/// What a kind of work is said in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nouns {
    /// One of its inputs, and several.
    pub(crate) inputs: [&'static str; 2],
    /// One of its operations, and several, where they are what the user asked for.
    pub(crate) ops: Option<[&'static str; 2]>,
    pub(crate) volume: Volume,
}

/// The nouns of a kind of work.
pub(crate) fn of(kind: &str) -> Nouns {
    let messages = Some(["message", "messages"]);
    let ops = match kind {
        "match" => Some(["event", "events"]),
        "zip" | "unzip" => Some(["entry", "entries"]),
        "stress" => Some(["block", "blocks"]),
        "zip-bench" => Some(["archive", "archives"]),
        "betree-bench" => Some(["search", "searches"]),
        "compress-bench" => Some(["call", "calls"]),
        "compare, interleaved" => Some(["run", "runs"]),
        "fix diff" => Some(["message compared", "messages compared"]),
        "fix replay" => Some(["message sent", "messages sent"]),
        kind if kind.starts_with("fix") => messages,
        _ => None,
    };
    let volume = match kind {
        "compress" | "decompress" | "zip" | "unzip" | "stress" | "tour" | "zstd" => {
            let expands = matches!(kind, "decompress" | "unzip");
            Volume::Converted { expands }
        }
        "test" => Volume::Apart("of content"),
        "train" => Volume::Apart("in the dictionary"),
        "zip-bench" => Volume::Apart("in archives"),
        _ => Volume::Apart("written"),
    };
    Nouns {
        inputs: match kind {
            "train" => ["sample", "samples"],
            _ => ["input", "inputs"],
        },
        ops,
        volume,
    }
}
