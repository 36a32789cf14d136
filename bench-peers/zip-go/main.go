// One case of klauspost/compress's ZIP, as zip-libraries runs those of Rust: the same words, the same
// line of JSON. The library's name is that of its compressor.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"
)

type entry struct {
	name    string
	content []byte
	path    string
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(which, input string) []entry {
	var entries []entry
	if which == "tree" {
		must(filepath.Walk(input, func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				name, _ := filepath.Rel(input, path)
				entries = append(entries, entry{name: filepath.ToSlash(name), path: path})
			}
			return err
		}))
		sort.Slice(entries, func(a, b int) bool { return entries[a].name < entries[b].name })
		return entries
	}
	content, err := os.ReadFile(input)
	must(err)
	switch which {
	case "one", "threads":
		return []entry{{name: "data", content: content}}
	case "memory":
		return []entry{{name: "data", content: content[:100000]}}
	}
	if which != "fifty" {
		must(fmt.Errorf("no such case here: %s", which))
	}
	for index := 0; index < 50; index++ {
		at := index * 10000 % (len(content) - 10000)
		name := fmt.Sprintf("entry%03d.txt", index)
		entries = append(entries, entry{name: name, content: content[at : at+10000]})
	}
	return entries
}

func pack(entries []entry, sink io.Writer) {
	writer := zip.NewWriter(sink)
	writer.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, 6)
	})
	for _, entry := range entries {
		out, err := writer.Create(entry.name)
		must(err)
		content := entry.content
		if entry.path != "" {
			content, err = os.ReadFile(entry.path)
			must(err)
		}
		_, err = out.Write(content)
		must(err)
	}
	must(writer.Close())
}

func peakBytes() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib * 1024
		}
	}
	return 0
}

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "zip-go LIBRARY CASE INPUT OUT MILLISECONDS")
		os.Exit(2)
	}
	which, out := os.Args[2], os.Args[4]
	milliseconds, err := strconv.Atoi(os.Args[5])
	must(err)
	budget := time.Duration(milliseconds) * time.Millisecond
	entries := work(which, os.Args[3])
	var times []int64
	var size int64
	warm := false
	for started := time.Now(); ; {
		start := time.Now()
		if which == "memory" {
			var memory bytes.Buffer
			pack(entries, &memory)
			size = int64(memory.Len())
		} else {
			file, err := os.Create(out)
			must(err)
			pack(entries, file)
			info, err := file.Stat()
			must(err)
			size = info.Size()
			must(file.Close())
		}
		took := time.Since(start)
		// The first turn warms up, where there is time for another.
		if !warm && took*3 < budget {
			warm = true
			continue
		}
		times = append(times, took.Nanoseconds())
		if time.Since(started) >= budget {
			break
		}
	}
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	fmt.Printf("{\"ns\": %d, \"ns_min\": %d, \"turns\": %d, \"bytes\": %d, \"rss_bytes\": %d}\n",
		times[len(times)/2], times[0], len(times), size, peakBytes())
}
