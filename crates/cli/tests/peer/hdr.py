"""HdrHistogram's Python library next to perfkit: `write-log FILE`, `read-log FILE`, `write-hgrm FILE`, `decode`."""
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader, HistogramLogWriter

HIGHEST = 3600000000000


def values(interval):
    for nth in range(1000):
        yield 1000 + interval * 50000 + nth * nth


def write_log(path):
    with open(path, "w") as file:
        log = HistogramLogWriter(file)
        log.output_log_format_version()
        # Its own function for this line calls one that Python does not have.
        file.write("#[StartTime: 1700000000.250 (seconds since epoch), then]\n")
        log.output_base_time(1700000000250)
        log.output_legend()
        for interval in range(5):
            histogram = HdrHistogram(1, HIGHEST, 3)
            for value in values(interval):
                histogram.record_value(value)
            log.output_interval_histogram(histogram, interval + 0.0005, interval + 1.0)
        log.close()


def read_log(path):
    log = HistogramLogReader(path, HdrHistogram(1, HIGHEST, 3))
    while True:
        histogram = log.get_next_interval_histogram()
        if histogram is None:
            break
        start = histogram.get_start_time_stamp() / 1000 - log.get_start_time_sec()
        print(
            histogram.get_tag(),
            f"{start:.2f}",
            histogram.get_total_count(),
            histogram.get_min_value(),
            histogram.get_max_value(),
            histogram.get_value_at_percentile(50.0),
            histogram.get_value_at_percentile(99.0),
        )
    print("start", f"{log.get_start_time_sec():.3f}")


def write_hgrm(path):
    histogram = HdrHistogram(1, HIGHEST, 3)
    for interval in range(5):
        for value in values(interval):
            histogram.record_value(value)
    with open(path, "wb") as file:
        histogram.output_percentile_distribution(file, 1000.0, 5)
    print(histogram.get_total_count(), histogram.get_max_value(), histogram.get_value_at_percentile(99.0))


def decode():
    histogram = HdrHistogram.decode(sys.stdin.read().strip().encode())
    print(histogram.get_total_count(), histogram.get_max_value(), histogram.get_value_at_percentile(99.0))


what, *rest = sys.argv[1:]
{"write-log": write_log, "read-log": read_log, "write-hgrm": write_hgrm, "decode": decode}[what](*rest)
