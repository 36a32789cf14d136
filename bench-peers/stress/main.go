// Command stress puts codecs of Go under the load that `perfkit stress` makes: producers and consumers,
// seed loop or honest loop, fresh or pooled contexts. It runs one codec and prints one line of JSON.
//
// The line is read by `cargo xtask peers stress`, which interleaves runs of this and of perfkit.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// plan is what a run shall do.
type plan struct {
	codec     string
	pool      string
	loop      string
	producers int
	consumers int
	batch     int
	queue     int
	bytes     int
	seed      uint64
	duration  time.Duration
}

func main() {
	var p plan
	flag.StringVar(&p.codec, "codec", "datadog:5", strings.Join(codecNames(), ", "))
	flag.StringVar(&p.pool, "pool", "pooled", "fresh or pooled")
	flag.StringVar(&p.loop, "loop", "honest", "honest or seed")
	flag.IntVar(&p.producers, "producers", 100, "producers")
	flag.IntVar(&p.consumers, "consumers", 100, "consumers")
	flag.IntVar(&p.batch, "batch", 16, "blocks that are sent together")
	flag.IntVar(&p.queue, "queue", 64, "batches that may wait")
	flag.IntVar(&p.bytes, "bytes", 2048, "content of a block")
	flag.Uint64Var(&p.seed, "seed", 1, "seed of contents")
	flag.DurationVar(&p.duration, "duration", 2*time.Second, "how long")
	flag.Parse()
	if err := run(p); err != nil {
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
}

func run(p plan) error {
	seedLoop := p.loop == "seed"
	if !seedLoop && p.loop != "honest" {
		return fmt.Errorf("unknown loop %q", p.loop)
	}
	if p.pool != "fresh" && p.pool != "pooled" {
		return fmt.Errorf("unknown pool %q", p.pool)
	}
	c, err := codecByName(p.codec, p.pool == "fresh")
	if err != nil {
		return err
	}
	found, err := load(p, c, seedLoop)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}
