//! The library betree for C and C++, with the calls of the C library be-tree.
//!
//! The functions are those of `include/betree.h`, which `cargo xtask codegen` writes from this source with its
//! comments. Every function checks its pointers for null, returns false, null or -1 on a failure, and catches
//! panics; [`betree_last_error`] has the message.
//!
//! `tree` is the handle, `attributes` what events consist of, `subscription` what is matched; `list` and `event` make
//! events out of values, `search` searches at once and `iterator` in steps. Below them, `state` shares one tree
//! between threads, `json` writes events as text, `failure` keeps messages, and `pointer` is the only way from a
//! pointer to a reference.
#![deny(unsafe_code)]
#![allow(
    non_camel_case_types,
    reason = "the names are those of the C interface"
)]

mod attributes;
mod event;
mod failure;
mod iterator;
mod json;
mod list;
mod pointer;
mod search;
mod state;
mod subscription;
mod tree;

pub use attributes::{
    betree_add_boolean_variable, betree_add_float_variable, betree_add_frequency_caps_variable,
    betree_add_integer_enum_variable, betree_add_integer_list_variable,
    betree_add_integer_variable, betree_add_segments_variable, betree_add_string_list_variable,
    betree_add_string_variable, betree_change_boundaries, betree_get_variable_definition,
    betree_value_type_e, betree_variable_definition,
};
pub use event::{
    betree_event, betree_free_event, betree_free_variable, betree_make_boolean_variable,
    betree_make_event, betree_make_float_variable, betree_make_frequency_caps_variable,
    betree_make_integer_list_variable, betree_make_integer_variable, betree_make_segments_variable,
    betree_make_string_list_variable, betree_make_string_variable, betree_set_variable,
};
pub use failure::betree_last_error;
pub use iterator::{
    betree_search, betree_search_all, betree_search_iterator, betree_search_iterator_with_event,
    betree_search_next, betree_search_reductions, betree_search_release, betree_search_report,
};
pub use json::betree_variable;
pub use list::{
    betree_add_frequency_cap, betree_add_integer, betree_add_segment, betree_add_string,
    betree_free_frequency_cap, betree_free_frequency_caps, betree_free_integer_list,
    betree_free_segment, betree_free_segments, betree_free_string_list, betree_frequency_cap,
    betree_frequency_caps, betree_integer_list, betree_make_frequency_cap,
    betree_make_frequency_caps, betree_make_integer_list, betree_make_segment,
    betree_make_segments, betree_make_string_list, betree_segment, betree_segments,
    betree_string_list,
};
pub use search::{
    betree_exists, betree_exists_with_event, betree_search, betree_search_ids,
    betree_search_with_event, betree_search_with_event_ids, free_report, make_report, report,
};
pub use state::{betree_state, betree_sub};
pub use subscription::{
    betree_constant, betree_delete, betree_free_constant, betree_free_constants, betree_insert,
    betree_insert_sub, betree_insert_with_constants, betree_make_integer_constant, betree_make_sub,
    betree_sub_t, betree_update,
};
pub use tree::{
    betree, betree_deinit, betree_free, betree_init, betree_load, betree_make,
    betree_make_with_parameters, betree_save,
};
