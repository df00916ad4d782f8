package record

// Tags of packed values: the protobuf tags of the fields of
// milena.record.v1.Value, and zero, which is no protobuf tag, for null. They
// are part of the stored format.
const (
	TagNull      byte = 0
	TagBool      byte = 1<<3 | wireVarint
	TagInt32     byte = 2<<3 | wireVarint
	TagInt64     byte = 3<<3 | wireVarint
	TagFloat     byte = 4<<3 | wireFixed32
	TagDouble    byte = 5<<3 | wireFixed64
	TagBytes     byte = 6<<3 | wireBytes
	TagString    byte = 7<<3 | wireBytes
	TagTimestamp byte = 8<<3 | wireBytes
	TagDate      byte = 9<<3 | wireBytes
	TagDecimal   byte = 10<<3 | wireBytes
	TagTime      byte = 11<<3 | wireBytes
	TagList      byte = 14<<3 | wireBytes
	// TagRecord begins a record, map or union branch in the map form. The
	// packed form uses TagList for them.
	TagRecord byte = 15<<3 | wireBytes
)

// Wire types of protobuf's encoding, the low three bits of a tag.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// BareField is the name of the only field in the map form of a schema whose
// top-level type is not a record.
const BareField = "value"
