package envelope

import (
	"milena/broker/stored"
	"milena/gateway/batch"
)

// Compression is a topic's compression.type. Kafka recompresses when a batch is
// produced; here it happens when one is served, so that what is stored doesn't
// depend on it. The zero value is "producer".
type Compression struct {
	// fixed: every batch has the codec, whatever its producer chose.
	fixed bool
	codec batch.Codec
}

// CompressionNames returns the values of compression.type, by which
// CompressionOf knows them.
func CompressionNames() []string {
	return []string{"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"}
}

// CompressionOf returns what a topic's compression.type means. Any other text is
// as "producer": topics made by other ways than the gateway may have one, and
// stay readable.
func CompressionOf(name string) Compression {
	if name == "uncompressed" {
		return Compression{fixed: true}
	}
	for c := batch.Gzip; c <= batch.Zstd; c++ {
		if c.String() == name {
			return Compression{fixed: true, codec: c}
		}
	}
	return Compression{}
}

// Keeps says that a batch with that codec is served as its producer sent it.
func (c Compression) Keeps(codec batch.Codec) bool { return !c.fixed || codec == c.codec }

// Served says in which form a client gets the batches of a topic.
type Served struct {
	Compression Compression
	// Zstd: the client knows that codec (Fetch version 10, KIP-110).
	Zstd bool
}

// keeps says that the producer's own bytes, if they are at hand, will do.
func (s Served) keeps(h *stored.Header) bool {
	codec := batch.Codec(h.Codec)
	return s.Compression.Keeps(codec) && (codec != batch.Zstd || s.Zstd)
}

// codec is that of a rebuilt batch: the topic's, or else lz4 if the producer
// compressed, which is the cheapest; lz4 too for clients that don't know zstd.
// Control batches are never compressed.
func (s Served) codec(h *stored.Header) batch.Codec {
	switch {
	case h.Control || h.Count == 0:
		return batch.None
	case !s.Compression.fixed && h.Codec == uint8(batch.None):
		return batch.None
	case !s.Compression.fixed, s.Compression.codec == batch.Zstd && !s.Zstd:
		return batch.LZ4
	}
	return s.Compression.codec
}
