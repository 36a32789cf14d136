#!/bin/sh
# How fast `perfkit fix` reads a log: beside counting its bytes and its lines, in one run.
#
#   bench-peers/fix-throughput.sh PERFKIT LOG RECORD
#
# PERFKIT is the release binary, LOG a file on tmpfs (written first where it is not there, 2 GiB, which
# takes its time), RECORD the Markdown file to write. Every command runs ROUNDS times in turns (2
# unless it is set), the least time counts.
set -eu
perfkit=$1 log=$2 record=$3
rounds=${ROUNDS:-2}
[ -e "$log" ] || "$perfkit" fix generate --size 2GB --form lines -o "$log"
bytes=$(stat -c %s "$log")
times=$(mktemp)
trap 'rm -f "$times"' EXIT

run() { # NAME, then the command
    name=$1
    shift
    LC_ALL=C /usr/bin/time -a -o "$times" -f "$name;%e;%U;%S;%M" "$@" >/dev/null || {
        echo "$name failed: is every message of $log valid?" >&2
        exit 1
    }
}

cp "$log" /dev/null
round=0
while [ "$round" -lt "$rounds" ]; do
    run "read (dd bs=1M)" dd if="$log" of=/dev/null bs=1M status=none
    run "cat, wc -c" sh -c 'cat "$1" | wc -c' - "$log"
    # Into a pipe, for grep stops at the first line when nobody reads what it says.
    run "grep -c 35=8" sh -c 'grep -c "35=8" "$1" | cat' - "$log"
    for threads in 1 2; do
        for part in stats parse validate; do
            quiet=-qq
            [ "$part" = stats ] && quiet=-q
            run "fix $part -T$threads" "$perfkit" fix "$part" "$quiet" "-T$threads" "$log"
        done
    done
    run "fix stats -T2, pipe" sh -c 'cat "$2" | "$1" fix stats -q -T2' - "$perfkit" "$log"
    round=$((round + 1))
done

{
    echo "# perfkit fix over a log"
    echo
    echo "A generated log of $bytes bytes on tmpfs (\`fix generate --size 2GB\`: orders, executions, market data"
    echo "and heartbeats, a message a line), output to /dev/null; the least of $rounds rounds in turns;"
    echo "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) processors; $(date -u +%Y%m%d). Processor seconds are those of"
    echo "all threads, memory is the resident peak of the largest process."
    echo
    echo "    bench-peers/fix-throughput.sh target/release/perfkit LOG bench-peers/record/fix-throughput.md"
    echo
    echo "| command | seconds | GB/s | processor s | GB/s a processor | peak MiB |"
    echo "|---|---|---|---|---|---|"
    awk -F';' -v bytes="$bytes" '
        !($1 in least) { order[++count] = $1 }
        !($1 in least) || $2 < least[$1] { least[$1] = $2; cpu[$1] = $3 + $4; peak[$1] = $5 }
        END {
            for (at = 1; at <= count; at++) {
                name = order[at]
                printf "| %s | %.2f | %.2f | %.2f | %.2f | %.0f |\n", name, least[name],
                    bytes / least[name] / 1e9, cpu[name], bytes / cpu[name] / 1e9, peak[name] / 1024
            }
        }' "$times"
} >"$record"
