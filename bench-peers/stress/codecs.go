package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	datadog "github.com/DataDog/zstd"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/segmentio/kafka-go/compress"
	kafkagzip "github.com/segmentio/kafka-go/compress/gzip"
	kafkalz4 "github.com/segmentio/kafka-go/compress/lz4"
	kafkasnappy "github.com/segmentio/kafka-go/compress/snappy"
	kafkazstd "github.com/segmentio/kafka-go/compress/zstd"
)

// codec compresses into memory of its own and decompresses into what it is lent. Any goroutine may
// call it.
type codec interface {
	compress(content []byte) ([]byte, error)
	decompress(content, block []byte, size int) ([]byte, error)
}

// build makes a codec at a level; fresh is without a pool.
type build func(level int, fresh bool) codec

// builds are the codecs by name, with the level that each has unless told otherwise.
var builds = map[string]struct {
	level int
	build build
}{
	"datadog":      {datadog.DefaultCompression, newDatadog},
	"klauspost":    {3, newKlauspost},
	"gzip":         {6, newGzip},
	"snappy":       {0, func(int, bool) codec { return golangSnappy{} }},
	"lz4":          {0, newLz4},
	"kafka-zstd":   {3, func(level int, _ bool) codec { return &kafka{&kafkazstd.Codec{Level: level}} }},
	"kafka-snappy": {0, func(int, bool) codec { return &kafka{&kafkasnappy.Codec{}} }},
	"kafka-lz4":    {0, func(int, bool) codec { return &kafka{&kafkalz4.Codec{}} }},
	"kafka-gzip":   {6, func(level int, _ bool) codec { return &kafka{&kafkagzip.Codec{Level: level}} }},
}

func codecNames() []string {
	names := make([]string, 0, len(builds))
	for name := range builds {
		names = append(names, name)
	}
	return names
}

// codecByName reads NAME or NAME:LEVEL.
func codecByName(text string, fresh bool) (codec, error) {
	name, setting, given := strings.Cut(text, ":")
	known, found := builds[name]
	if !found {
		return nil, fmt.Errorf("unknown codec %q: expected one of %v", name, codecNames())
	}
	level := known.level
	if given {
		var err error
		if level, err = strconv.Atoi(setting); err != nil {
			return nil, fmt.Errorf("%q is no level", setting)
		}
	}
	return known.build(level, fresh), nil
}

// datadogFresh is the C library with a context for each call.
type datadogFresh struct{ level int }

// datadogPooled is the C library with contexts in a sync.Pool.
type datadogPooled struct {
	level int
	pool  sync.Pool
}

func newDatadog(level int, fresh bool) codec {
	if fresh {
		return datadogFresh{level}
	}
	return &datadogPooled{level, sync.Pool{New: func() any { return datadog.NewCtx() }}}
}

func (d datadogFresh) compress(content []byte) ([]byte, error) {
	return datadog.CompressLevel(nil, content, d.level)
}

func (d datadogFresh) decompress(content, block []byte, size int) ([]byte, error) {
	return decompressInto(content, size, func(room []byte) (int, error) {
		return datadog.DecompressInto(room, block)
	})
}

func (d *datadogPooled) compress(content []byte) ([]byte, error) {
	ctx := d.pool.Get().(datadog.Ctx)
	defer d.pool.Put(ctx)
	return ctx.CompressLevel(nil, content, d.level)
}

func (d *datadogPooled) decompress(content, block []byte, size int) ([]byte, error) {
	ctx := d.pool.Get().(datadog.Ctx)
	defer d.pool.Put(ctx)
	return decompressInto(content, size, func(room []byte) (int, error) {
		return ctx.DecompressInto(room, block)
	})
}

// decompressInto gives room for size bytes to into, in content's memory where that is enough.
func decompressInto(content []byte, size int, into func([]byte) (int, error)) ([]byte, error) {
	if cap(content) < size {
		content = make([]byte, size)
	}
	count, err := into(content[:size])
	if err != nil {
		return nil, err
	}
	return content[:count], nil
}

// klauspost is zstd in Go, whole buffers, one goroutine a call.
type klauspost struct {
	encoders, decoders sync.Pool
	fresh              bool
}

func newKlauspost(level int, fresh bool) codec {
	// The options are constants that both constructors accept: an error cannot come of them.
	encoder := func() any {
		made, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			// Off at this level by itself, and UUIDs would then not be compressed at all.
			zstd.WithAllLitEntropyCompression(true))
		return made
	}
	decoder := func() any {
		made, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		return made
	}
	return &klauspost{sync.Pool{New: encoder}, sync.Pool{New: decoder}, fresh}
}

func (k *klauspost) compress(content []byte) ([]byte, error) {
	if k.fresh {
		encoder := k.encoders.New().(*zstd.Encoder)
		defer encoder.Close()
		return encoder.EncodeAll(content, nil), nil
	}
	encoder := k.encoders.Get().(*zstd.Encoder)
	defer k.encoders.Put(encoder)
	return encoder.EncodeAll(content, nil), nil
}

func (k *klauspost) decompress(content, block []byte, _ int) ([]byte, error) {
	if k.fresh {
		decoder := k.decoders.New().(*zstd.Decoder)
		defer decoder.Close()
		return decoder.DecodeAll(block, content)
	}
	decoder := k.decoders.Get().(*zstd.Decoder)
	defer k.decoders.Put(decoder)
	return decoder.DecodeAll(block, content)
}

// gzipped is gzip in Go with writers and readers in pools, or fresh ones.
type gzipped struct {
	level   int
	fresh   bool
	writers sync.Pool
	readers sync.Pool
}

func newGzip(level int, fresh bool) codec {
	g := &gzipped{level: level, fresh: fresh}
	g.writers.New = func() any {
		writer, _ := gzip.NewWriterLevel(io.Discard, level)
		return writer
	}
	g.readers.New = func() any { return new(gzip.Reader) }
	return g
}

func (g *gzipped) compress(content []byte) ([]byte, error) {
	var block bytes.Buffer
	writer := take(&g.writers, g.fresh).(*gzip.Writer)
	writer.Reset(&block)
	if _, err := writer.Write(content); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	give(&g.writers, g.fresh, writer)
	return block.Bytes(), nil
}

func (g *gzipped) decompress(content, block []byte, _ int) ([]byte, error) {
	reader := take(&g.readers, g.fresh).(*gzip.Reader)
	if err := reader.Reset(bytes.NewReader(block)); err != nil {
		return nil, err
	}
	into := bytes.NewBuffer(content)
	if _, err := reader.WriteTo(into); err != nil {
		return nil, err
	}
	give(&g.readers, g.fresh, reader)
	return into.Bytes(), nil
}

func take(pool *sync.Pool, fresh bool) any {
	if fresh {
		return pool.New()
	}
	return pool.Get()
}

func give(pool *sync.Pool, fresh bool, context any) {
	if !fresh {
		pool.Put(context)
	}
}

// golangSnappy has no contexts.
type golangSnappy struct{}

func (golangSnappy) compress(content []byte) ([]byte, error) {
	return snappy.Encode(nil, content), nil
}

func (golangSnappy) decompress(content, block []byte, size int) ([]byte, error) {
	return snappy.Decode(content[:cap(content)], block)
}

// lz4Blocks are bare blocks, by compressors in a pool or fresh ones.
type lz4Blocks struct {
	fresh bool
	pool  sync.Pool
}

func newLz4(_ int, fresh bool) codec {
	return &lz4Blocks{fresh, sync.Pool{New: func() any { return new(lz4.Compressor) }}}
}

func (l *lz4Blocks) compress(content []byte) ([]byte, error) {
	compressor := take(&l.pool, l.fresh).(*lz4.Compressor)
	block := make([]byte, lz4.CompressBlockBound(len(content)))
	count, err := compressor.CompressBlock(content, block)
	give(&l.pool, l.fresh, compressor)
	return block[:count], err
}

func (l *lz4Blocks) decompress(content, block []byte, size int) ([]byte, error) {
	return decompressInto(content, size, func(room []byte) (int, error) {
		return lz4.UncompressBlock(block, room)
	})
}

// kafka is a codec of kafka-go: streams over pools of its own.
type kafka struct{ codec compress.Codec }

func (k *kafka) compress(content []byte) ([]byte, error) {
	var block bytes.Buffer
	writer := k.codec.NewWriter(&block)
	if _, err := writer.Write(content); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return block.Bytes(), nil
}

func (k *kafka) decompress(content, block []byte, _ int) ([]byte, error) {
	reader := k.codec.NewReader(bytes.NewReader(block))
	into := bytes.NewBuffer(content)
	_, err := into.ReadFrom(reader)
	if closing := reader.Close(); err == nil {
		err = closing
	}
	return into.Bytes(), err
}
