package record

// Style says how a payload is rebuilt from its RecordValue. It is one stored
// byte per key and value; numbers are part of the stored format and only grow.
type Style uint8

const (
	// StyleOriginal: no known encoder writes these bytes for this value, so
	// the original payload is stored beside the RecordValue.
	StyleOriginal Style = 0
	// StyleCanonical: the payload is the one canonical encoding of the value
	// (Avro: minimal varints, at most one block per array or map, no byte size).
	StyleCanonical Style = 1
	// StyleCounted: as StyleCanonical, but arrays and maps are in blocks of
	// CountedBlockItems items (the last one of what is left), each with a
	// negative count and a byte size, as hamba/avro and so
	// confluent-kafka-go's avrov2 write them. A block whose items take no
	// bytes has a positive count and no size, as with them.
	StyleCounted Style = 2
)

// CountedBlockItems is the number of items or entries in each full block of
// StyleCounted. It is hamba/avro's default and part of the stored format.
const CountedBlockItems = 100

// MappingVersion is the version of the mapping from schemas to RecordValue
// that programs of this build write. Stored records carry theirs, and programs
// rebuild every version that was ever written.
const MappingVersion = 1
