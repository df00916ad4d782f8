package avro

import (
	"strings"

	"milena/serde/schema"
)

// fixedSizeMax is the longest array of Java, which the reference measures
// fixed types by.
const fixedSizeMax = 2147483639

// object parses a schema that is a JSON object: by the word under "type".
func (p *parser) object(v *Value, ns string) (*Type, *schema.ParseError) {
	word, ok := v.str("type")
	if !ok {
		return nil, p.errorf(v, "No type: %s", clip(v.JSON()))
	}
	switch word {
	case "record", "error":
		return p.record(v, ns, word == "error")
	case "enum":
		return p.enum(v, ns)
	case "fixed":
		return p.fixed(v, ns)
	case "array":
		return p.container(v, ns, KindArray, "items", "Array has no items type: ")
	case "map":
		return p.container(v, ns, KindMap, "values", "Map has no values type: ")
	}
	k, ok := primitiveKind(word)
	if !ok {
		// A reference in the long form: its other attributes are lost.
		return p.find(v.get("type"), word, ns), nil
	}
	t := &Type{Kind: k, Props: typeProps(v, k)}
	if len(t.Props) == 0 {
		return p.find(v, word, ns), nil
	}
	t.setLogical()
	return t, nil
}

// typeProps collects the attributes of a type that mean nothing to it. Words
// that mean something to any type are dropped even where they mean nothing.
func typeProps(v *Value, k Kind) []Prop {
	var props []Prop
	for i, key := range v.keys {
		switch key {
		case "doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases":
			continue
		case "default":
			if k == KindEnum {
				continue
			}
		}
		props = append(props, Prop{key, v.elems[i]})
	}
	return props
}

// setProps gives t its attributes and its logical type. The reference can't
// hold an integer beyond 64 bits in an attribute of these types.
func (p *parser) setProps(t *Type, v *Value) *schema.ParseError {
	t.Props = typeProps(v, t.Kind)
	for i := range t.Props {
		if t.Props[i].Value.hasBigInteger() {
			return p.errorf(&t.Props[i].Value, "Can't set a property to null: %s", clip(t.Props[i].Key))
		}
	}
	t.setLogical()
	return nil
}

func (p *parser) container(v *Value, ns string, k Kind, key, missing string) (*Type, *schema.ParseError) {
	item := v.get(key)
	if item == nil {
		return nil, p.errorf(v, "%s%s", missing, clip(v.JSON()))
	}
	items, err := p.typ(item, ns)
	if err != nil {
		return nil, err
	}
	t := &Type{Kind: k, Items: items}
	return t, p.setProps(t, v)
}

// typeName reads name and namespace of a named type. A dot in the name beats
// the namespace attribute, which beats the namespace around; a namespace that
// is no string counts as absent.
func (p *parser) typeName(v *Value, ns string) (Name, *schema.ParseError) {
	text, ok := v.str("name")
	if !ok {
		return Name{}, p.errorf(v, "No name in schema: %s", clip(v.JSON()))
	}
	n := Name{Namespace: ns, Simple: text}
	own := false
	if dot := strings.LastIndexByte(text, '.'); dot >= 0 {
		n, own = Name{Namespace: text[:dot], Simple: text[dot+1:]}, true
	} else if s, ok := v.str("namespace"); ok {
		n.Namespace, own = s, true
	}
	if len(n.Namespace)+len(n.Simple) > nameBytesMax {
		return Name{}, p.errorf(v, "Name of more than %d bytes", nameBytesMax)
	}
	if problem := p.nameProblem(n.Simple); problem != "" {
		return Name{}, p.errorf(v.get("name"), "%s", problem)
	}
	if own && n.Namespace != "" && !p.lenient {
		if problem := namespaceProblem(n.Namespace); problem != "" {
			return Name{}, p.errorf(v, "%s", problem)
		}
	}
	if _, ok := primitiveKind(n.Simple); ok && n.Namespace == "" {
		return Name{}, p.errorf(v, "Schemas may not be named after primitives: %s", n.Simple)
	}
	return n, nil
}

// named starts a named type: name, doc and aliases.
func (p *parser) named(v *Value, ns string, k Kind) (*Type, *schema.ParseError) {
	name, err := p.typeName(v, ns)
	if err != nil {
		return nil, err
	}
	t := &Type{Kind: k, Name: name, Doc: docOf(v)}
	aliases, err := p.aliasTexts(v)
	if err != nil || len(aliases) == 0 {
		return t, err
	}
	list := v.get("aliases")
	seen := make(map[Name]bool, len(aliases))
	for i, text := range aliases {
		a := Name{Namespace: name.Namespace, Simple: text}
		if dot := strings.LastIndexByte(text, '.'); dot >= 0 {
			a = Name{Namespace: text[:dot], Simple: text[dot+1:]}
		}
		at := &list.elems[i]
		if problem := p.nameProblem(a.Simple); problem != "" {
			return nil, p.errorf(at, "%s", problem)
		}
		if a.Namespace != name.Namespace && a.Namespace != "" && !p.lenient {
			if problem := namespaceProblem(a.Namespace); problem != "" {
				return nil, p.errorf(at, "%s", problem)
			}
		}
		p.bytes += a.bytes()
		if !seen[a] {
			seen[a] = true
			t.Aliases = append(t.Aliases, a)
		}
	}
	return t, nil
}

// docOf returns the doc attribute; one that is no string counts as absent.
func docOf(v *Value) *string {
	if s, ok := v.str("doc"); ok {
		return &s
	}
	return nil
}

// aliasTexts reads the aliases of a type or a field.
func (p *parser) aliasTexts(v *Value) ([]string, *schema.ParseError) {
	list := v.get("aliases")
	if list == nil {
		return nil, nil
	}
	if list.kind != valueArray {
		return nil, p.errorf(list, "aliases not an array: %s", clip(v.JSON()))
	}
	out := make([]string, len(list.elems))
	for i := range list.elems {
		e := &list.elems[i]
		if e.kind != valueString {
			return nil, p.errorf(e, "alias not a string: %s", clip(e.JSON()))
		}
		out[i] = e.text
	}
	return out, nil
}

func (p *parser) record(v *Value, ns string, isError bool) (*Type, *schema.ParseError) {
	t, err := p.named(v, ns, KindRecord)
	if err != nil {
		return nil, err
	}
	t.IsError = isError
	list := v.get("fields")
	if list == nil || list.kind != valueArray {
		return nil, p.errorf(v, "Record has no fields: %s", clip(v.JSON()))
	}
	t.Fields = make([]Field, 0, len(list.elems))
	seen := make(map[string]bool, len(list.elems))
	for i := range list.elems {
		f, err := p.field(&list.elems[i], t.Name.Namespace)
		if err != nil {
			return nil, err
		}
		if seen[f.Name] {
			return nil, p.errorf(&list.elems[i], "Duplicate field %s in record %s", clip(f.Name), clip(t.Name.Full()))
		}
		seen[f.Name] = true
		t.Fields = append(t.Fields, f)
	}
	if err := p.setProps(t, v); err != nil {
		return nil, err
	}
	return p.define(v, t)
}

func (p *parser) field(v *Value, ns string) (Field, *schema.ParseError) {
	var f Field
	name, ok := v.str("name")
	if !ok {
		return f, p.errorf(v, "No field name: %s", clip(v.JSON()))
	}
	typ := v.get("type")
	if typ == nil {
		return f, p.errorf(v, "No field type: %s", clip(v.JSON()))
	}
	t, err := p.typ(typ, ns)
	if err != nil {
		return f, err
	}
	if problem := p.nameProblem(name); problem != "" {
		return f, p.errorf(v.get("name"), "%s", problem)
	}
	f = Field{Name: name, Type: t, Doc: docOf(v)}
	if f.Order, err = p.order(v); err != nil {
		return f, err
	}
	if f.Default, err = p.fieldDefault(v, &f); err != nil {
		return f, err
	}
	aliases, err := p.aliasTexts(v)
	if err != nil {
		return f, err
	}
	seen := make(map[string]bool, len(aliases))
	for _, a := range aliases {
		if !seen[a] {
			seen[a] = true
			f.Aliases = append(f.Aliases, a)
		}
	}
	for i, key := range v.keys {
		switch key {
		case "name", "type", "doc", "default", "order", "aliases":
		default:
			f.Props = append(f.Props, Prop{key, v.elems[i]})
		}
	}
	return f, nil
}

func (p *parser) order(v *Value) (Order, *schema.ParseError) {
	o := v.get("order")
	if o == nil {
		return OrderAscending, nil
	}
	if o.kind == valueString {
		switch strings.ToLower(o.text) {
		case "ascending":
			return OrderAscending, nil
		case "descending":
			return OrderDescending, nil
		case "ignore":
			return OrderIgnore, nil
		}
		return 0, p.errorf(o, "No enum constant org.apache.avro.Schema.Field.Order.%s", clip(strings.ToUpper(o.text)))
	}
	return 0, p.errorf(o, "Field order is no string: %s", clip(o.JSON()))
}

func (p *parser) enum(v *Value, ns string) (*Type, *schema.ParseError) {
	t, err := p.named(v, ns, KindEnum)
	if err != nil {
		return nil, err
	}
	list := v.get("symbols")
	if list == nil || list.kind != valueArray {
		return nil, p.errorf(v, "Enum has no symbols: %s", clip(v.JSON()))
	}
	t.Symbols = make([]string, 0, len(list.elems))
	seen := make(map[string]bool, len(list.elems))
	for i := range list.elems {
		e := &list.elems[i]
		if e.kind != valueString {
			return nil, p.errorf(e, "Null name")
		}
		if problem := p.nameProblem(e.text); problem != "" {
			return nil, p.errorf(e, "%s", problem)
		}
		if seen[e.text] {
			return nil, p.errorf(e, "Duplicate enum symbol: %s", clip(e.text))
		}
		seen[e.text] = true
		t.Symbols = append(t.Symbols, e.text)
	}
	if d, ok := v.str("default"); ok {
		if !seen[d] {
			return nil, p.errorf(v.get("default"), "The Enum Default: %s is not in the enum symbol set: [%s]",
				clip(d), clip(strings.Join(t.Symbols, ", ")))
		}
		t.EnumDefault = &d
	}
	if err := p.setProps(t, v); err != nil {
		return nil, err
	}
	return p.define(v, t)
}

func (p *parser) fixed(v *Value, ns string) (*Type, *schema.ParseError) {
	t, err := p.named(v, ns, KindFixed)
	if err != nil {
		return nil, err
	}
	size := v.get("size")
	if size == nil {
		return nil, p.errorf(v, "Invalid or no size: %s", clip(v.JSON()))
	}
	n, ok := size.int32()
	switch {
	case !ok:
		return nil, p.errorf(size, "Invalid or no size: %s", clip(v.JSON()))
	case n < 0:
		return nil, p.errorf(size, "Malformed data. Length is negative: %d", n)
	case n > fixedSizeMax:
		return nil, p.errorf(size, "Cannot read more than %d bytes into a fixed: %d", fixedSizeMax, n)
	}
	t.Size = int(n)
	if err := p.setProps(t, v); err != nil {
		return nil, err
	}
	return p.define(v, t)
}
