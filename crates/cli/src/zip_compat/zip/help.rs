//! What `zip -h` prints.

/// The help.
pub(crate) const HELP: &str = "\
perfkit under the name of zip: make and change ZIP archives.

Usage: zip [OPTIONS] ARCHIVE[.zip] NAME... [-x PATTERN...] [-i PATTERN...]
       zip [OPTIONS] ARCHIVE[.zip] -@ < NAMES      zip -r - NAME... > ARCHIVE

An ARCHIVE that exists is changed: files are added, or replace their entries.

  -r  walk directories                -R  walk from here, and take names that match
  -u  only new and newer files        -f  only newer files of entries
  -FS make it what the files are      -d  delete entries
  -m  move: remove what was packed    -T  test before it is complete
  -j  without directories             -D  no entries for directories
  -x PATTERN...  leave out            -i PATTERN...  take only
  -@  names from standard input       -y  symbolic links as links
  -t DATE  files from then on         -tt DATE  files before
  -0 to -9  level                     -n SUFFIX:SUFFIX  store these
  -z  comment    -c  comments of entries, from standard input
  -e  encrypt (AES)                   -P WORD  with this password (others can see it)
  -X  old times only    -k  as DOS    -o  time of the newest entry
  -O FILE  write another archive      -sf show what would be done
  -U  copy entries as they are into the archive of -O
  -DF pack what differs from the archive into -O
  -F  copy a damaged archive to -O    -FF  what is intact of it
  -TT COMMAND  test by it with -T     -l, -ll  LF to CR LF, CR LF to LF
  -s SIZE  parts of this size         -s 0  join a split archive into -O
  -lf FILE  log    -la  append to it    -li  with all that is said
  -A  check offsets    -q  quiet      -v  say more
  -FI read named pipes                -ws * does not match '/', and ** does

Exit codes: 0 done, 3 no archive, 8 test failed, 9 interrupted, 12 nothing to do, 10, 14 and 15 cannot
write, 16 wrong command line, 18 a file cannot be read.

What differs from Info-ZIP: docs/zip.md. The command with all features is `perfkit zip`.
";
