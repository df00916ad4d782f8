package jsonschema

// families are the keywords of one schema object by what they are about; nil
// where it has none of them.
type families struct {
	array   *ArrayRules
	object  *ObjectRules
	number  *NumberRules
	strings *StringRules
}

// has reports whether an object has one of the keys.
func (v *Value) has(keys ...string) bool {
	for _, k := range keys {
		if v.get(k) != nil {
			return true
		}
	}
	return false
}

// families reads all keywords of the four families, whatever type says.
func (l *loader) families(s scope, v *Value) families {
	var f families
	modern := s.doc.draft.modern()
	if modern {
		f.array = l.modernArray(s, v)
	} else {
		f.array = l.oldArray(s, v)
	}
	f.object = l.object(s, v)
	if v.has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") {
		f.number = l.numbers(s, v)
	}
	if v.has("minLength", "maxLength", "pattern", "format") {
		f.strings = &StringRules{
			MinLength: l.limit(s, v, "minLength"),
			MaxLength: l.limit(s, v, "maxLength"),
			Pattern:   l.text(s, v, "pattern"),
		}
		l.text(s, v, "format")
		if p := f.strings.Pattern; p != nil {
			l.regexp(s, v.get("pattern"), *p)
		}
	}
	return f
}

func (l *loader) numbers(s scope, v *Value) *NumberRules {
	n := &NumberRules{
		Minimum:    l.number(s, v, "minimum"),
		Maximum:    l.number(s, v, "maximum"),
		MultipleOf: l.number(s, v, "multipleOf"),
	}
	if m := n.MultipleOf; m != nil && *m == 0 && !s.doc.draft.modern() {
		l.fail(s, v.get("multipleOf"), "multipleOf must not be 0")
	}
	n.ExclusiveMinimum = l.exclusive(s, v, "exclusiveMinimum")
	n.ExclusiveMaximum = l.exclusive(s, v, "exclusiveMaximum")
	return n
}

// exclusive reads a limit that draft 4 has as a flag; flags are not kept.
func (l *loader) exclusive(s scope, v *Value, key string) *float64 {
	if s.doc.draft == Draft4 {
		l.flag(s, v, key)
		return nil
	}
	return l.number(s, v, key)
}

// object reads the keywords about objects.
func (l *loader) object(s scope, v *Value) *ObjectRules {
	draft := s.doc.draft
	properties := v.get("properties")
	// The modern loader makes nothing of no properties.
	named := properties != nil && !(draft.modern() && properties.kind == valueObject && len(properties.keys) == 0)
	if !named && !v.has("required", "minProperties", "maxProperties", "patternProperties", "additionalProperties") &&
		(draft == Draft4 || !v.has("propertyNames")) &&
		(draft.modern() || !v.has("dependencies")) &&
		(!draft.modern() || !v.has("dependentRequired", "dependentSchemas", "unevaluatedProperties")) {
		return nil
	}
	o := &ObjectRules{
		MinProperties: l.limit(s, v, "minProperties"),
		MaxProperties: l.limit(s, v, "maxProperties"),
	}
	if named {
		o.Properties = l.table(s, properties, "properties")
	}
	if m := v.get("required"); m != nil {
		o.Required = l.strings(s, m, "required")
	}
	if m := v.get("patternProperties"); m != nil {
		for _, p := range l.table(s, m, "patternProperties") {
			l.regexp(s, m, p.Name)
			o.Patterns = append(o.Patterns, PatternProperty{Pattern: p.Name, Schema: p.Schema})
		}
	}
	o.Additional = l.extra(s, v, "additionalProperties")
	if draft != Draft4 {
		l.one(s, v, "propertyNames")
	}
	if draft.modern() {
		o.Unevaluated = l.one(s, v, "unevaluatedProperties")
		l.dependent(s, v, o)
	} else if m := v.get("dependencies"); m != nil {
		l.dependencies(s, m, o)
	}
	o.index = make(map[string]int, len(o.Properties))
	for i, p := range o.Properties {
		o.index[p.Name] = i
	}
	o.required = make(map[string]bool, len(o.Required))
	for _, name := range o.Required {
		o.required[name] = true
	}
	return o
}

// dependencies reads the keyword of the old drafts, whose values are schemas or
// lists of properties.
func (l *loader) dependencies(s scope, v *Value, o *ObjectRules) {
	if v.kind != valueObject {
		l.fail(s, v, "dependencies must be an object")
		return
	}
	for i, name := range v.keys {
		m := &v.elems[i]
		switch {
		case m.kind == valueArray:
			o.RequiredWith = append(o.RequiredWith, RequiredWith{name, l.strings(s, m, "dependencies")})
		case m.isBool() && s.doc.draft == Draft4:
			l.fail(s, m, "dependencies take no booleans in draft 4")
		default:
			o.SchemasWith = append(o.SchemasWith, Property{name, l.at(s, m, "dependencies", name)})
		}
	}
}

// dependent reads the two keywords that took the place of dependencies.
func (l *loader) dependent(s scope, v *Value, o *ObjectRules) {
	if m := v.get("dependentRequired"); m != nil {
		if m.kind != valueObject {
			l.fail(s, m, "dependentRequired must be an object")
			return
		}
		for i, name := range m.keys {
			o.RequiredWith = append(o.RequiredWith, RequiredWith{name, l.strings(s, &m.elems[i], "dependentRequired")})
		}
	}
	if m := v.get("dependentSchemas"); m != nil {
		o.SchemasWith = l.table(s, m, "dependentSchemas")
	}
}

func (l *loader) oldArray(s scope, v *Value) *ArrayRules {
	draft := s.doc.draft
	if !v.has("items", "additionalItems", "minItems", "maxItems", "uniqueItems") && (draft == Draft4 || !v.has("contains")) {
		return nil
	}
	a := &ArrayRules{
		MinItems:   l.limit(s, v, "minItems"),
		MaxItems:   l.limit(s, v, "maxItems"),
		Unique:     l.flag(s, v, "uniqueItems"),
		Additional: l.extra(s, v, "additionalItems"),
	}
	if m := v.get("items"); m != nil {
		switch {
		case m.kind == valueArray:
			a.Items = l.list(s, m, "items")
		case m.isBool() && draft == Draft4:
			l.fail(s, m, "items takes no boolean in draft 4")
		default:
			a.All = l.at(s, m, "items")
		}
	}
	if draft != Draft4 {
		a.Contains = l.one(s, v, "contains")
	}
	return a
}

func (l *loader) modernArray(s scope, v *Value) *ArrayRules {
	if !v.has("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems") {
		return nil
	}
	a := &ArrayRules{
		MinItems:    l.limit(s, v, "minItems"),
		MaxItems:    l.limit(s, v, "maxItems"),
		Unique:      l.flag(s, v, "uniqueItems"),
		Unevaluated: l.one(s, v, "unevaluatedItems"),
	}
	if m := v.get("prefixItems"); m != nil {
		a.Items = l.list(s, m, "prefixItems")
	}
	extra := l.extra(s, v, "items")
	if len(a.Items) == 0 && extra.Schema != nil {
		a.All = extra.Schema
	} else {
		a.Additional = extra
	}
	if a.Contains = l.one(s, v, "contains"); a.Contains != nil {
		one := 1.0
		a.MinContains, a.MaxContains = &one, nil
		if m := v.get("minContains"); m != nil && m.isNumber() {
			*a.MinContains = m.float()
		}
		if m := v.get("maxContains"); m != nil && m.isNumber() {
			most := m.float()
			a.MaxContains = &most
		}
	}
	return a
}
