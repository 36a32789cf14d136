package main

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
)

// block is one compressed block and what is known of its content.
type block struct {
	bytes []byte
	hash  uint64
	size  int
}

// found is what a run came to.
type found struct {
	Codec        string  `json:"codec"`
	Pool         string  `json:"pool"`
	Loop         string  `json:"loop"`
	Blocks       int64   `json:"blocks"`
	ContentBytes int64   `json:"content_bytes"`
	Ratio        float64 `json:"ratio"`
	WallNs       int64   `json:"wall_ns"`
	CPUNs        int64   `json:"cpu_ns"`
	RSSMaxBytes  int64   `json:"rss_max_bytes"`
	Threads      int64   `json:"threads"`
	Goroutines   int     `json:"goroutines"`
}

// counts are added to once a batch, so that they cost no more than perfkit's.
type counts struct {
	blocks, content, compressedContent, compressed, wrong atomic.Int64
	failed                                                atomic.Pointer[error]
}

func (c *counts) fail(err error) {
	c.failed.CompareAndSwap(nil, &err)
}

// load runs producers and consumers until the time is over. In the seed loop a producer compresses one
// block and sends it for ever, and nothing is verified, as in the program that had this loop.
func load(p plan, c codec, seedLoop bool) (*found, error) {
	queue := make(chan []block, p.queue)
	stop := make(chan struct{})
	var sum counts
	var producers, consumers sync.WaitGroup
	cpu, start := cpuTime(), time.Now()
	for id := 0; id < p.producers; id++ {
		producers.Add(1)
		go func() {
			defer producers.Done()
			if err := produce(p, c, uint64(id), seedLoop, queue, stop, &sum); err != nil {
				sum.fail(err)
			}
		}()
	}
	for id := 0; id < p.consumers; id++ {
		consumers.Add(1)
		go func() {
			defer consumers.Done()
			if err := consume(p, c, !seedLoop, queue, &sum); err != nil {
				sum.fail(err)
				for range queue {
					// What comes after is not for this run to judge.
				}
			}
		}()
	}
	time.Sleep(p.duration)
	goroutines, threads := runtime.NumGoroutine(), processStatus("Threads:")
	close(stop)
	producers.Wait()
	close(queue)
	consumers.Wait()
	wall, used := time.Since(start), cpuTime()-cpu
	if err := sum.failed.Load(); err != nil {
		return nil, *err
	}
	if sum.wrong.Load() > 0 {
		return nil, errors.New("blocks came back as something else")
	}
	return &found{
		Codec:        p.codec,
		Pool:         p.pool,
		Loop:         p.loop,
		Blocks:       sum.blocks.Load(),
		ContentBytes: sum.content.Load(),
		Ratio:        float64(sum.compressedContent.Load()) / float64(sum.compressed.Load()),
		WallNs:       wall.Nanoseconds(),
		CPUNs:        used.Nanoseconds(),
		RSSMaxBytes:  processStatus("VmHWM:") << 10,
		Threads:      threads,
		Goroutines:   goroutines,
	}, nil
}

func produce(
	p plan, c codec, id uint64, seedLoop bool, queue chan<- []block, stop <-chan struct{}, sum *counts,
) error {
	content := make([]byte, 0, p.bytes+uuidBytes)
	var frozen *block
	for nth := uint64(0); ; {
		select {
		case <-stop:
			return nil
		default:
		}
		batch := make([]block, 0, p.batch)
		var before, after int64
		for len(batch) < p.batch {
			if frozen != nil {
				batch = append(batch, *frozen)
				continue
			}
			content = uuidText(content[:0], p.bytes, p.seed, id, nth)
			nth++
			bytes, err := c.compress(content)
			if err != nil {
				return err
			}
			one := block{bytes: bytes, size: len(content)}
			before += int64(len(content))
			after += int64(len(bytes))
			if seedLoop {
				frozen = &one
			} else {
				one.hash = xxhash.Sum64(content)
			}
			batch = append(batch, one)
		}
		sum.compressedContent.Add(before)
		sum.compressed.Add(after)
		select {
		case queue <- batch:
		case <-stop:
			return nil
		}
	}
}

func consume(p plan, c codec, verify bool, queue <-chan []block, sum *counts) error {
	content := make([]byte, 0, p.bytes)
	for batch := range queue {
		var bytes, wrong int64
		for _, one := range batch {
			var err error
			if content, err = c.decompress(content[:0], one.bytes, one.size); err != nil {
				return err
			}
			bytes += int64(len(content))
			if verify && (len(content) != one.size || xxhash.Sum64(content) != one.hash) {
				wrong++
			}
		}
		sum.blocks.Add(int64(len(batch)))
		sum.content.Add(bytes)
		sum.wrong.Add(wrong)
	}
	return nil
}
