package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuTime is the processor time of the process.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// processStatus is a number that Linux tells of this process, 0 where there is none.
func processStatus(key string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, key); found {
			number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			value, _ := strconv.ParseInt(number, 10, 64)
			return value
		}
	}
	return 0
}
