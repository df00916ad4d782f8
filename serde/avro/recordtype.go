package avro

import "milena/serde/record"

// logicalNames are the logical types as the specification spells them.
var logicalNames = [...]string{
	LogicalNone: "", LogicalDecimal: "decimal", LogicalBigDecimal: "big-decimal", LogicalUUID: "uuid",
	LogicalDate: "date", LogicalTimeMillis: "time-millis", LogicalTimeMicros: "time-micros",
	LogicalTimestampMillis: "timestamp-millis", LogicalTimestampMicros: "timestamp-micros",
	LogicalTimestampNanos: "timestamp-nanos", LogicalLocalTimestampMillis: "local-timestamp-millis",
	LogicalLocalTimestampMicros: "local-timestamp-micros", LogicalLocalTimestampNanos: "local-timestamp-nanos",
	LogicalDuration: "duration",
}

// columnKinds are the kinds of columns by Avro type.
var columnKinds = [...]record.Kind{
	KindNull: record.KindNull, KindBoolean: record.KindBool, KindInt: record.KindInt32, KindLong: record.KindInt64,
	KindFloat: record.KindFloat, KindDouble: record.KindDouble, KindBytes: record.KindBytes,
	KindString: record.KindString, KindRecord: record.KindRecord, KindEnum: record.KindString,
	KindArray: record.KindList, KindMap: record.KindMap, KindFixed: record.KindBytes, KindUnion: record.KindUnion,
}

// recordType returns the typed columns of the schema whose top-level type is t.
func recordType(t *Type) *record.Type {
	b := typeBuilder{}
	if t.Kind == KindRecord {
		return b.record(t)
	}
	c := b.column(record.BareField, t)
	if t.Kind == KindBytes { // bare, so nothing is known of the content
		c = record.Column{Name: record.BareField, Kind: record.KindBytes}
	}
	return &record.Type{Bare: true, Columns: []record.Column{c}}
}

// typeBuilder holds the record types that are built or being built.
type typeBuilder map[*Type]*record.Type

func (b typeBuilder) record(t *Type) *record.Type {
	if r, ok := b[t]; ok {
		return r
	}
	r := &record.Type{Name: t.FullName(), Columns: make([]record.Column, len(t.Fields))}
	b[t] = r
	for i := range t.Fields {
		r.Columns[i] = b.column(t.Fields[i].Name, t.Fields[i].Type)
	}
	return r
}

func (b typeBuilder) column(name string, t *Type) record.Column {
	c := record.Column{Name: name, Kind: columnKinds[t.Kind], Nullable: t.Kind == KindNull}
	switch t.Kind {
	case KindRecord:
		c.Record = b.record(t)
	case KindArray, KindMap:
		item := b.column("", t.Items)
		c.Item = &item
	case KindUnion:
		return b.union(c, t)
	case KindEnum:
		c.TypeName, c.Symbols = t.FullName(), t.Symbols
	case KindFixed:
		c.TypeName, c.Size = t.FullName(), t.Size
	}
	if int(t.Logical) < len(logicalNames) {
		c.Logical = logicalNames[t.Logical]
	}
	switch t.Logical {
	case LogicalDate:
		c.Kind = record.KindDate
	case LogicalTimeMillis, LogicalTimeMicros:
		c.Kind = record.KindTime
	case LogicalTimestampMillis, LogicalTimestampMicros:
		c.Kind, c.UTC = record.KindTimestamp, true
	case LogicalLocalTimestampMillis, LogicalLocalTimestampMicros:
		c.Kind = record.KindTimestamp
	case LogicalDecimal:
		c.Kind, c.Precision, c.Scale = record.KindDecimal, t.Precision, t.Scale
	case LogicalBigDecimal:
		c.Kind = record.KindDecimal
	}
	return c
}

// union returns the column of a union: that of its only other branch, or one of
// KindUnion.
func (b typeBuilder) union(c record.Column, t *Type) record.Column {
	var some []*Type
	for _, br := range t.Branches {
		if br.Kind == KindNull {
			c.Nullable = true
		} else {
			some = append(some, br)
		}
	}
	if len(some) == 1 {
		only := b.column(c.Name, some[0])
		only.Nullable = c.Nullable
		return only
	}
	if len(some) == 0 && c.Nullable {
		c.Kind = record.KindNull
	}
	for _, br := range t.Branches {
		c.Branches = append(c.Branches, b.column(br.FullName(), br))
	}
	return c
}
