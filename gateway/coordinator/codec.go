package coordinator

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"milena/gateway/group"
)

// errRecord: a stored group record can't be read. Never guessed at: the group is
// unavailable until someone has looked.
var errRecord = errors.New("group record is not readable")

// recordVersion is the layout written by appendRecord. The ladder only grows, and
// every version must stay readable (testdata/record_v*.hex):
//
//	1  version byte, state byte, generation, protocol type, protocol, leader,
//	   count of members, and for each: id, instance id, client id, client host,
//	   session and rebalance timeout in ms, count of protocols with name and
//	   metadata each, assignment
//
// Numbers are unsigned varints; strings and bytes have their length in front,
// the assignment its length plus one, 0 for none.
const recordVersion = 1

// Stored state bytes. They are not those of package group, which may change.
const (
	storedEmpty      = 1
	storedCompleting = 2
	storedStable     = 3
)

// appendRecord appends a snapshot in one of the states that are stored.
func appendRecord(dst []byte, s group.Snapshot) ([]byte, error) {
	var state byte
	switch s.State {
	case group.Empty:
		state = storedEmpty
	case group.CompletingRebalance:
		state = storedCompleting
	case group.Stable:
		state = storedStable
	default:
		return dst, fmt.Errorf("encode group record: state %v is not stored", s.State)
	}
	dst = append(dst, recordVersion, state)
	dst = binary.AppendUvarint(dst, uint64(s.Generation))
	dst = appendString(dst, s.ProtocolType)
	dst = appendString(dst, s.Protocol)
	dst = appendString(dst, s.Leader)
	dst = binary.AppendUvarint(dst, uint64(len(s.Members)))
	for _, m := range s.Members {
		dst = appendString(dst, m.ID)
		dst = appendString(dst, m.InstanceID)
		dst = appendString(dst, m.ClientID)
		dst = appendString(dst, m.ClientHost)
		dst = binary.AppendUvarint(dst, uint64(m.SessionTimeout.Milliseconds()))
		dst = binary.AppendUvarint(dst, uint64(m.RebalanceTimeout.Milliseconds()))
		dst = binary.AppendUvarint(dst, uint64(len(m.Protocols)))
		for _, p := range m.Protocols {
			dst = appendString(dst, p.Name)
			dst = appendString(dst, string(p.Metadata))
		}
		if m.Assignment == nil {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(m.Assignment))+1)
		dst = append(dst, m.Assignment...)
	}
	return dst, nil
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// decodeRecord is the reverse. The snapshot shares nothing with src. Whether it
// makes sense is for group.Restore to say.
func decodeRecord(src []byte) (group.Snapshot, error) {
	r := recordReader{src: src}
	var s group.Snapshot
	if v := r.octet(); v != recordVersion {
		return s, fmt.Errorf("%w: version %d, want %d", errRecord, v, recordVersion)
	}
	switch state := r.octet(); state {
	case storedEmpty:
		s.State = group.Empty
	case storedCompleting:
		s.State = group.CompletingRebalance
	case storedStable:
		s.State = group.Stable
	default:
		return s, fmt.Errorf("%w: state %d", errRecord, state)
	}
	s.Generation = int32(r.number(1<<31 - 1))
	s.ProtocolType = string(r.bytes())
	s.Protocol = string(r.bytes())
	s.Leader = string(r.bytes())
	// A member takes 8 bytes at least, so that a count can't ask for more memory
	// than the record's own size justifies.
	s.Members = make([]group.MemberSnapshot, r.count(8))
	for i := range s.Members {
		r.member(&s.Members[i])
	}
	if r.bad || len(r.src) > 0 {
		return group.Snapshot{}, fmt.Errorf("%w: cut short, or %d bytes left over", errRecord, len(r.src))
	}
	return s, nil
}

// recordReader reads a record; after the first fault it returns zero values.
type recordReader struct {
	src []byte
	bad bool
}

func (r *recordReader) fail() {
	r.src, r.bad = nil, true
}

func (r *recordReader) octet() byte {
	if len(r.src) == 0 {
		r.fail()
		return 0
	}
	b := r.src[0]
	r.src = r.src[1:]
	return b
}

func (r *recordReader) number(limit uint64) uint64 {
	n, size := binary.Uvarint(r.src)
	if size <= 0 || n > limit {
		r.fail()
		return 0
	}
	r.src = r.src[size:]
	return n
}

// count reads how many elements of at least size bytes follow.
func (r *recordReader) count(size int) int {
	return int(r.number(uint64(len(r.src) / size)))
}

func (r *recordReader) take(n int) []byte {
	if n > len(r.src) {
		r.fail()
		return nil
	}
	b := append([]byte{}, r.src[:n]...)
	r.src = r.src[n:]
	return b
}

func (r *recordReader) bytes() []byte {
	return r.take(int(r.number(uint64(len(r.src)))))
}

func (r *recordReader) millis() time.Duration {
	return time.Duration(r.number(1<<31-1)) * time.Millisecond
}

func (r *recordReader) member(m *group.MemberSnapshot) {
	m.ID = string(r.bytes())
	m.InstanceID = string(r.bytes())
	m.ClientID = string(r.bytes())
	m.ClientHost = string(r.bytes())
	m.SessionTimeout = r.millis()
	m.RebalanceTimeout = r.millis()
	m.Protocols = make([]group.Protocol, r.count(2))
	for i := range m.Protocols {
		m.Protocols[i] = group.Protocol{Name: string(r.bytes()), Metadata: r.bytes()}
	}
	if n := r.number(uint64(len(r.src))); n > 0 {
		m.Assignment = r.take(int(n) - 1)
	}
}
