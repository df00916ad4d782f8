package stored

import "encoding/binary"

// Marker is the content of a transaction's control record (Kafka's
// EndTransactionMarker, KIP-98).
type Marker struct {
	// Commit: else abort.
	Commit           bool
	CoordinatorEpoch int32
}

// markerEncodedSize is the size in bytes of a record batch with one marker:
// the batch header (61) and a record with a key of 4 and a value of 6.
const markerEncodedSize = 61 + 1 + 16

// AppendMarker appends the stored batch of one control record: a batch of its
// own, transactional, of the producer id and epoch whose transaction ends, at
// timestamp in milliseconds since the epoch. b is reset.
func (b *Builder) AppendMarker(dst []byte, producerID int64, producerEpoch int16, timestamp int64, m Marker) ([]byte, error) {
	var content [10]byte
	key, value := content[:4], content[4:]
	if m.Commit {
		binary.BigEndian.PutUint16(key[2:], 1)
	}
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	b.Reset()
	b.Header = Header{
		Transactional: true, Control: true,
		ProducerID: producerID, ProducerEpoch: producerEpoch, BaseSequence: -1,
		FirstTimestamp: timestamp, MaxTimestamp: timestamp,
		EncodedSize: markerEncodedSize,
		ContentCRC:  UpdateContent(0, key, value, nil),
	}
	err := b.Add(&Record{
		Key:   Payload{Schema: -1, Raw: key, HasRaw: true},
		Value: Payload{Schema: -1, Raw: value, HasRaw: true},
	})
	if err != nil {
		return dst, err
	}
	return b.Append(dst)
}

// Marker returns the marker of a control batch. It fails with ErrCorrupt for
// other batches and with ErrVersion for a control record type or version that
// this build doesn't know.
func (b *Batch) Marker() (Marker, error) {
	var r Record
	it := b.Records()
	if !b.Header.Control || !it.Next(&r) {
		if it.Err() != nil {
			return Marker{}, it.Err()
		}
		return Marker{}, corrupt("not a control batch")
	}
	key, value := r.Key.Raw, r.Value.Raw
	if len(key) < 4 || len(value) < 6 {
		return Marker{}, corrupt("control record too short")
	}
	kind := binary.BigEndian.Uint16(key[2:])
	if binary.BigEndian.Uint16(key) != 0 || kind > 1 {
		return Marker{}, ErrVersion
	}
	return Marker{Commit: kind == 1, CoordinatorEpoch: int32(binary.BigEndian.Uint32(value[2:]))}, nil
}
