//! Error codes of libzstd: numbers that count down from 0, and their meaning here.

/// What an error code means, in the words of this crate.
pub(crate) fn reason(code: usize) -> &'static str {
    match code.wrapping_neg() {
        20 => "data corruption detected",
        24 => "literals header does not match its size",
        // libzstd says "dictionary", the only other source of such tables.
        30 | 32 => "refers to tables that were never defined",
        40 | 41 => "unsupported option",
        42 => "option out of range",
        44 => "entropy table too large",
        46 | 48 => "entropy table with wrong symbols",
        60 => "wrong order of calls",
        64 => "out of memory",
        70 => "content too large",
        72 => "wrong size",
        _ => zstd_safe::get_error_name(code),
    }
}

/// The error code of libzstd for data that is corrupt in some way.
pub(crate) const CORRUPTION: usize = 20_usize.wrapping_neg();

/// Whether a libzstd error code means that an allocation failed.
pub(crate) fn is_out_of_memory(code: usize) -> bool {
    code.wrapping_neg() == 64
}

/// Whether a libzstd error code means that the output did not fit.
pub(crate) fn is_output_too_small(code: usize) -> bool {
    code.wrapping_neg() == 70
}
