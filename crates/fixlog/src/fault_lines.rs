//! All faults of a message as one line of JSON.

use std::io::Write as _;

use fixcore::dict::Dictionary;

use crate::{Fault, Lines, MESSAGE_FAULTS_MAX, Place, RejectReason, name_of};

impl Lines {
    /// Appends a message with what is wrong with it: its place, the first fault as [`fault`](Self::fault) writes
    /// it, its type, all faults in `faults`, and warnings in `warnings`. `names` are the dictionaries that have
    /// names of fields.
    pub fn faults(
        self,
        out: &mut Vec<u8>,
        place: Place<'_>,
        (msg_type, names): (&[u8], [Option<&Dictionary>; 2]),
        faults: &[Fault],
    ) {
        self.begin(out, place);
        let first = faults.iter().find(|fault| !fault.is_warning());
        if let Some(first) = first {
            if let Some(tag) = first.tag {
                // Writing into memory does not fail.
                let _ = write!(out, ",\"tag\":{tag}");
            }
            out.extend_from_slice(b",\"error\":");
            self.string(out, first.to_string().as_bytes());
        }
        if !msg_type.is_empty() {
            out.extend_from_slice(b",\"msg_type\":");
            self.string(out, msg_type);
        }
        for (key, is_warning, of_each) in
            [("faults", false, "error"), ("warnings", true, "warning")]
        {
            let of_kind = faults
                .iter()
                .filter(|fault| fault.is_warning() == is_warning);
            let mut before = format!(",\"{key}\":[");
            for fault in of_kind {
                let _ = write!(out, "{before}{{");
                before = ",".to_owned();
                self.one(out, fault, names, of_each);
            }
            if before == "," {
                out.push(b']');
            }
        }
        if faults.len() >= MESSAGE_FAULTS_MAX {
            out.extend_from_slice(b",\"more_faults\":true");
        }
        out.extend_from_slice(b"}\n");
    }

    fn one(self, out: &mut Vec<u8>, fault: &Fault, names: [Option<&Dictionary>; 2], key: &str) {
        if let Some(tag) = fault.tag {
            let _ = write!(out, "\"tag\":{tag},");
            let of = |names: &Dictionary| Some(names.field(tag)?.name().to_owned());
            let own = names.into_iter().flatten().find_map(of);
            if let Some(name) = own.or_else(|| name_of(tag, None).map(str::to_owned)) {
                out.extend_from_slice(b"\"field\":");
                self.string(out, name.as_bytes());
                out.push(b',');
            }
        }
        let _ = write!(out, "\"{key}\":");
        self.string(out, fault.to_string().as_bytes());
        let _ = match fault.reject_reason() {
            None => Ok(()),
            Some(RejectReason::Session(reason)) => {
                write!(out, ",\"session_reject_reason\":{reason}")
            }
            Some(RejectReason::Business(reason)) => {
                write!(out, ",\"business_reject_reason\":{reason}")
            }
        };
        out.push(b'}');
    }
}
