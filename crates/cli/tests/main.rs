//! All tests of the binary that need no other program, in one executable: it links once.

mod common;

mod advise;
mod bad_input;
mod betree;
mod betree_hostile;
mod betree_ids;
#[cfg(feature = "serve")]
mod betree_serve;
#[cfg(feature = "serve")]
mod betree_serve_streams;
mod betree_threads;
mod chosen;
mod compare;
mod compress_bench;
mod defaults;
mod file_sets;
mod files;
mod fix;
mod fix_certify;
mod fix_data;
mod fix_day;
mod fix_faults;
mod fix_fills;
mod fix_filters;
mod fix_find;
#[cfg(unix)]
mod fix_follow;
mod fix_health;
#[cfg(target_os = "linux")]
mod fix_hostile;
mod fix_kills;
mod fix_logs;
#[cfg(target_os = "linux")]
mod fix_orders;
mod fix_orders_logs;
mod fix_orders_order;
mod fix_rows;
mod fix_separators;
mod fix_settings;
mod fix_stats;
mod fix_store;
mod fix_tools;
mod fix_validate;
mod floors;
mod gates;
mod gzip;
mod help_flags;
mod imported;
mod input_sizes;
mod interrupt;
mod list;
mod live;
mod patches;
mod placed;
mod read_and_written;
#[cfg(unix)]
mod ready_files;
#[cfg(feature = "web")]
mod remote;
mod report_streams;
mod reports;
mod rerun;
mod roundtrip;
mod seekable;
mod shown;
mod signals;
mod small;
mod streams;
mod stress;
mod summaries;
mod terminal;
mod train;
mod truncated;
mod unzip_lists;
#[cfg(unix)]
mod unzip_places;
mod widths;
mod zip;
mod zip_append;
mod zip_changes;
mod zip_crypt;
mod zip_edit;
mod zip_fingers;
mod zip_kept;
#[cfg(unix)]
mod zip_links;
mod zip_merge;
mod zip_prefix;
mod zip_range;
mod zip_rights;
mod zip_sources;
