package envelope

import (
	"context"
	"errors"
	"fmt"

	"milena/broker/stored"
	"milena/gateway/backend"
	"milena/serde"
	"milena/serde/format"
	"milena/serde/record"
	"milena/serde/schema"
	"milena/serde/wire"
)

// side is the key or value side of one batch while it is stored: its mode, and
// what its ids turned out to mean. Records of a batch mostly share one schema,
// so the last answer is at hand without a lock.
type side struct {
	storing *storing
	name    string
	topic   string
	context string
	decodes bool
	rejects bool
	budget  budgetKey

	last answer
	// index is the place of last's schema in the stored batch, -1 if it has
	// none yet.
	index int
	// misses are the ids of this batch that were not resolved.
	misses []answer
	framed bool
}

// missesMax is how many unresolved ids of a batch are remembered. More take the
// budget of unknown ids, which ends soon.
const missesMax = 64

// asked is what a payload's envelope asks for.
type asked struct {
	framing wire.Framing
	id      int32
	guid    wire.GUID
}

// answer is what it means: a compiled schema, or why there is none.
type answer struct {
	asked    asked
	known    bool
	compiled *serde.Compiled
	reason   Reason
}

func (d *side) begin(p *Produced, mode Mode) {
	row := mode.row()
	d.decodes, d.rejects = row.decodes, row.rejects
	d.topic, d.context = p.TopicName, p.Policy.Context
	d.budget = budgetKey{topic: p.Topic, value: d == &d.storing.value}
	d.last, d.index, d.framed = answer{}, -1, false
	d.misses = d.misses[:0]
}

func (d *side) reset() {
	clear(d.misses)
	d.misses = d.misses[:0]
	d.last = answer{}
	d.topic, d.context = "", ""
}

// payload fills out with what is stored of data, a key or value (nil is null),
// and says in which form. header is the schema id header's value, nil if there
// is none. Packed bytes stand in the storing's buffer until the next record.
// The error is one for which the whole batch has to come again.
func (d *side) payload(ctx context.Context, index int32, data, header []byte, out *stored.Payload) (Form, error) {
	*out = stored.Payload{Schema: -1}
	if data == nil {
		out.Null = true
		return Raw, nil
	}
	if !d.decodes {
		out.Raw, out.HasRaw = data, true
		return Raw, nil
	}
	env, err := wire.Split(data, header)
	if err != nil {
		return d.unframed(index, data, err, out), nil
	}
	a, err := d.resolve(ctx, asked{framing: env.Framing, id: env.ID, guid: env.GUID})
	if err != nil {
		return Raw, fmt.Errorf("%s of topic %s, %s: %w", d.name, d.topic, nameOf(&env), err)
	}
	if a.compiled == nil {
		return d.undecoded(index, data, a.reason, &env, nil, out), nil
	}
	if a.compiled.Program == nil {
		return d.undecoded(index, data, NoProgram, &env, a.compiled.Err, out), nil
	}
	return d.decode(index, data, &env, a.compiled, out)
}

// errDecodedTooLarge is what a strict topic answers where decoded payloads grow
// beyond all measure, as long enum symbols and names in unions do.
var errDecodedTooLarge = errors.New("decoded records are too large")

func (d *side) decode(index int32, data []byte, env *wire.Envelope, c *serde.Compiled, out *stored.Payload) (Form, error) {
	s := d.storing
	if s.memory.full {
		return d.undecoded(index, data, TooLarge, env, errDecodedTooLarge, out), nil
	}
	start := len(s.packed)
	packed, style, err := format.DecodeMax(c.Program, s.packed, env.Data, s.memory.limit-s.decoded)
	switch {
	case errors.Is(err, record.ErrNoRoom):
		if err := s.memory.beyond(); err != nil {
			return Raw, err
		}
		s.memory.full = true
		return d.undecoded(index, data, TooLarge, env, errDecodedTooLarge, out), nil
	case err != nil:
		return d.undecoded(index, data, BadPayload, env, err, out), nil
	}
	s.packed = packed
	s.decoded += len(packed) - start
	if err := s.memory.grow(len(packed) - start); err != nil {
		return Raw, err
	}
	if d.index < 0 {
		if d.index, err = s.schemaIndex(c); err != nil {
			return Raw, err
		}
	}
	if !d.framed {
		d.framed = true
		s.engine.budgets.framed(d.budget)
	}
	out.Framing = stored.Framing(env.Framing)
	if env.Framing == wire.Prefix {
		out.ID = uint32(env.ID)
	}
	out.Schema, out.Style, out.Mapping = d.index, uint8(style), record.MappingVersion
	// A later append may move the buffer, but leaves these bytes as they are.
	out.Packed = packed[start:len(packed):len(packed)]
	if style == record.StyleOriginal {
		out.Raw, out.HasRaw = env.Data, true
	}
	return formOf(style), nil
}

// schemaIndex returns the place of a schema's key in the stored batch.
func (s *storing) schemaIndex(c *serde.Compiled) (int, error) {
	i, err := s.builder.SchemaIndex(c.Key)
	if err != nil {
		return 0, builderError(err)
	}
	if i == len(s.used) {
		s.used = append(s.used, c)
	}
	return i, nil
}

// unframed keeps a payload without envelope.
func (d *side) unframed(index int32, data []byte, err error, out *stored.Payload) Form {
	out.Raw, out.HasRaw = data, true
	if errors.Is(err, wire.ErrHeader) {
		d.storing.reasons[BadHeader]++
	}
	if d.rejects {
		d.storing.refuse(refusedContent, index, func() string {
			hint := ""
			if f := wire.Foreign(data); f != "" {
				hint = ", it looks like " + f
			}
			return fmt.Sprintf("%s of topic %s: %v%s", d.name, d.topic, err, hint)
		})
	}
	return Raw
}

// undecoded keeps a payload whose envelope leads nowhere.
func (d *side) undecoded(index int32, data []byte, reason Reason, env *wire.Envelope, err error, out *stored.Payload) Form {
	out.Raw, out.HasRaw = data, true
	d.storing.reasons[reason]++
	// On a strict topic what was not asked is not known to be at fault: the
	// batch is already refused for others.
	if d.rejects && reason != NotAsked {
		d.storing.refuse(refusedContent, index, func() string {
			text := "no such schema in context " + d.context
			if err != nil {
				text = err.Error()
			}
			return fmt.Sprintf("%s of topic %s, %s: %s", d.name, d.topic, nameOf(env), text)
		})
	}
	return Raw
}

func nameOf(env *wire.Envelope) string {
	if env.Framing == wire.HeaderGUID {
		return "schema " + env.GUID.String()
	}
	return fmt.Sprintf("schema id %d", env.ID)
}

// resolve says what an envelope's id means. The error is retriable: the registry
// is out of reach, or it may not be asked so often and the topic is strict.
func (d *side) resolve(ctx context.Context, q asked) (*answer, error) {
	if d.last.known && d.last.asked == q {
		return &d.last, nil
	}
	r := d.storing.engine.opts.Resolver
	var c *serde.Compiled
	var ok bool
	if q.framing == wire.HeaderGUID {
		c, ok = r.CachedGUID(q.guid.String())
	} else {
		c, ok = r.CachedID(d.context, q.id)
	}
	if !ok {
		for i := range d.misses {
			if d.misses[i].asked == q {
				return &d.misses[i], nil
			}
		}
		var reason Reason
		var err error
		if c, reason, err = d.ask(ctx, q); err != nil {
			return nil, err
		}
		if c == nil {
			d.misses = append(d.misses[:min(len(d.misses), missesMax-1)], answer{asked: q, known: true, reason: reason})
			return &d.misses[len(d.misses)-1], nil
		}
	}
	d.last, d.index = answer{asked: q, known: true, compiled: c}, -1
	return &d.last, nil
}

// ask goes to the registry within the budget of unknown ids. A side that never
// carried an envelope, however often one was looked for, is plain data: it
// neither waits for a registry nor is refused because of one.
func (d *side) ask(ctx context.Context, q asked) (*serde.Compiled, Reason, error) {
	e := d.storing.engine
	allowed, plain := e.budgets.take(d.budget)
	if !allowed {
		if d.rejects && d.storing.refused.Count == 0 {
			return nil, 0, fmt.Errorf("too many unknown schema ids: %w", schema.ErrUnavailable)
		}
		return nil, NotAsked, nil
	}
	var c *serde.Compiled
	var err error
	if q.framing == wire.HeaderGUID {
		c, err = e.opts.Resolver.ByGUID(ctx, q.guid.String())
	} else {
		c, err = e.opts.Resolver.ByID(ctx, d.context, q.id)
	}
	switch {
	case err == nil:
		e.budgets.refund(d.budget)
		return c, 0, nil
	case errors.Is(err, schema.ErrUnknown):
		e.budgets.missed(d.budget)
		return nil, UnknownID, nil
	case errors.Is(err, schema.ErrUnavailable) && plain && !d.rejects:
		return nil, NotAsked, nil
	default:
		e.budgets.refund(d.budget)
		return nil, 0, err
	}
}

// key of a compiled schema as the broker spells it.
func backendKey(c *serde.Compiled) backend.Key { return backend.Key(c.Key) }
