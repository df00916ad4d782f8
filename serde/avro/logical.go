package avro

import "math"

// logicalTypes is the table of logical types and where they are valid. Any
// other pair is ignored, as the specification asks.
var logicalTypes = [...]struct {
	name    string
	kind    Kind
	size    int // of a fixed; 0 for any
	logical Logical
}{
	{"decimal", KindBytes, 0, LogicalDecimal},
	{"decimal", KindFixed, 0, LogicalDecimal},
	{"big-decimal", KindBytes, 0, LogicalBigDecimal},
	{"uuid", KindString, 0, LogicalUUID},
	{"uuid", KindFixed, 16, LogicalUUID},
	{"date", KindInt, 0, LogicalDate},
	{"time-millis", KindInt, 0, LogicalTimeMillis},
	{"time-micros", KindLong, 0, LogicalTimeMicros},
	{"timestamp-millis", KindLong, 0, LogicalTimestampMillis},
	{"timestamp-micros", KindLong, 0, LogicalTimestampMicros},
	{"timestamp-nanos", KindLong, 0, LogicalTimestampNanos},
	{"local-timestamp-millis", KindLong, 0, LogicalLocalTimestampMillis},
	{"local-timestamp-micros", KindLong, 0, LogicalLocalTimestampMicros},
	{"local-timestamp-nanos", KindLong, 0, LogicalLocalTimestampNanos},
	{"duration", KindFixed, 12, LogicalDuration},
}

// prop returns the attribute's value, or nil.
func (t *Type) prop(key string) *Value {
	for i := range t.Props {
		if t.Props[i].Key == key {
			return &t.Props[i].Value
		}
	}
	return nil
}

// setLogical resolves the logical type from t's attributes.
func (t *Type) setLogical() {
	p := t.prop("logicalType")
	if p == nil || p.kind != valueString {
		return
	}
	for _, l := range logicalTypes {
		if l.name != p.text || l.kind != t.Kind || l.size != 0 && l.size != t.Size {
			continue
		}
		if l.logical == LogicalDecimal && !t.setDecimal() {
			return
		}
		t.Logical = l.logical
		return
	}
}

// setDecimal reads precision and scale; both must be integers of 32 bits, the
// scale 0 if absent, and a fixed must have room for the precision.
func (t *Type) setDecimal() bool {
	p := t.prop("precision")
	if p == nil {
		return false
	}
	precision, ok := p.int32()
	if !ok || precision <= 0 {
		return false
	}
	if t.Kind == KindFixed && int64(precision) > decimalDigits(t.Size) {
		return false
	}
	scale := int32(0)
	if s := t.prop("scale"); s != nil {
		if scale, ok = s.int32(); !ok {
			return false
		}
	}
	if scale < 0 || scale > precision {
		return false
	}
	t.Precision, t.Scale = int(precision), int(scale)
	return true
}

// decimalDigits returns how many decimal digits always fit a two's complement
// number of size bytes.
func decimalDigits(size int) int64 {
	if size == 0 {
		return 0
	}
	return int64(math.Floor(math.Log10(2) * float64(8*int64(size)-1)))
}
