module perfkit.dev/bench-peers/stress

go 1.25

require (
	github.com/DataDog/zstd v1.5.7
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/golang/snappy v1.0.0
	github.com/klauspost/compress v1.20.3
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/segmentio/kafka-go v0.4.51
)
