package jsondiff

import (
	"regexp"

	"milena/evolution/diff"
	"milena/serde/jsonschema"
)

// model is what an object schema says about a property that it doesn't name.
type model struct {
	open  bool
	cover *jsonschema.Node // what such a property must fit; nil if closed or open
}

// modelOf returns the model of an object schema for a name: the first pattern
// that is found in the name decides, then what holds for all others.
func (w *walker) modelOf(o *jsonschema.ObjectRules, name string) model {
	for _, p := range o.Patterns {
		if w.c.Step(1) && w.matches(p.Pattern, name) {
			return model{cover: p.Schema}
		}
	}
	rest := o.Unevaluated
	switch {
	case o.Additional.Schema != nil:
		return model{cover: o.Additional.Schema}
	case o.Additional.Closed:
		return model{}
	case rest == nil || rest.Kind == jsonschema.KindEmpty:
		return model{open: len(o.Patterns) == 0}
	case rest.Kind == jsonschema.KindFalse:
		return model{}
	}
	return model{cover: rest}
}

// matches reports whether a pattern is found in a name. Patterns that only Java
// has match nothing.
func (w *walker) matches(pattern, name string) bool {
	re, ok := w.regexps[pattern]
	if !ok {
		re, _ = regexp.Compile(pattern)
		w.regexps[pattern] = re
	}
	return re != nil && re.MatchString(name)
}

func (w *walker) objects(r *result, original, update *jsonschema.ObjectRules) {
	w.bound(r, maxProperties(), original.MaxProperties, update.MaxProperties)
	w.bound(r, minProperties(), original.MinProperties, update.MinProperties)
	w.extra(r, original.Additional, update.Additional, "additionalProperties", extraKinds{
		AdditionalPropertiesAdded, AdditionalPropertiesRemoved, AdditionalPropertiesExtended, AdditionalPropertiesNarrowed,
	})
	w.unevaluated(r, original.Unevaluated, update.Unevaluated, "unevaluatedProperties", extraKinds{
		UnevaluatedPropertiesAdded, UnevaluatedPropertiesRemoved, UnevaluatedPropertiesExtended, UnevaluatedPropertiesNarrowed,
	})
	w.dependencies(r, original, update)
	w.properties(r, original, update)
}

// properties compares property by property: those of the writer first, then
// those that only the reader has.
func (w *walker) properties(r *result, original, update *jsonschema.ObjectRules) {
	for _, p := range original.Properties {
		if !w.c.Step(1) || w.enough(r) {
			return
		}
		u := update.Property(p.Name)
		w.c.Push("properties", p.Name)
		if u == nil {
			w.propertyRemoved(r, p, update)
		} else {
			w.merge(r, w.schemas(p.Schema, u))
		}
		w.c.Pop(2)
		if u != nil {
			w.required(r, original, update, p.Name, u)
		}
	}
	for _, p := range update.Properties {
		if !w.c.Step(1) || w.enough(r) {
			return
		}
		if original.Property(p.Name) == nil {
			w.c.Push("properties", p.Name)
			w.propertyAdded(r, original, update, p)
			w.c.Pop(2)
		}
	}
}

// enough reports whether a verdict is known and nothing else is wanted.
func (w *walker) enough(r *result) bool { return w.quiet > 0 && r.breaks }

func (w *walker) required(r *result, original, update *jsonschema.ObjectRules, name string, schema *jsonschema.Node) {
	was, is := original.Requires(name), update.Requires(name)
	switch {
	case was == is:
	case was:
		w.emit(r, RequiredAttributeRemoved, "required", name)
	case schema.Default != nil:
		w.emit(r, RequiredAttributeWithDefaultAdded, "required", name)
	default:
		w.emit(r, RequiredAttributeAdded, "required", name)
	}
}

// propertyRemoved looks at what the reader takes under a name that it doesn't
// know.
func (w *walker) propertyRemoved(r *result, p jsonschema.Property, update *jsonschema.ObjectRules) {
	m := w.modelOf(update, p.Name)
	switch {
	case m.open:
		w.emit(r, PropertyRemovedOpen)
	case m.cover != nil:
		w.covered(r, p.Schema, m.cover, PropertyRemovedCovered, PropertyRemovedUncovered)
	case p.Schema.Kind == jsonschema.KindFalse:
		w.emit(r, PropertyFalseRemoved)
	default:
		w.emit(r, PropertyRemovedClosed)
	}
}

// propertyAdded looks at what the writer may have put under a name that it
// doesn't know.
func (w *walker) propertyAdded(r *result, original, update *jsonschema.ObjectRules, p jsonschema.Property) {
	m := w.modelOf(original, p.Name)
	if m.open && p.Schema.Kind == jsonschema.KindEmpty {
		w.emit(r, PropertyEmptyAdded)
		return
	}
	required, withDefault, optional := RequiredAdded, RequiredDefaultAdded, OptionalAdded
	if m.open {
		required, withDefault, optional = RequiredAddedOpen, RequiredDefaultAddedOpen, OptionalAddedOpen
	}
	if m.cover != nil {
		w.covered(r, m.cover, p.Schema, PropertyAddedCovered, PropertyAddedUncovered)
	}
	switch {
	case !update.Requires(p.Name):
		w.emit(r, optional)
	case p.Schema.Default != nil:
		w.emit(r, withDefault)
	default:
		w.emit(r, required)
	}
}

// covered compares a named schema with the one that holds for what is not
// named, and says whether the one reads the other.
func (w *walker) covered(r *result, original, update *jsonschema.Node, is, isNot diff.Kind) {
	inner := w.schemas(original, update)
	w.merge(r, inner)
	if inner.breaks {
		is = isNot
	}
	w.emit(r, is)
}

// extraKinds are the kinds of change of a keyword about what is not named.
type extraKinds struct{ added, removed, extended, narrowed diff.Kind }

// extra compares what may stand beyond the named members.
func (w *walker) extra(r *result, original, update jsonschema.Extra, keyword string, kinds extraKinds) {
	switch {
	case original.Closed && update.Closed:
	case original.Closed:
		w.emit(r, kinds.added, keyword)
	case update.Closed:
		w.emit(r, kinds.removed, keyword)
	case original.Schema == nil && update.Schema == nil:
	case original.Schema == nil:
		w.emit(r, kinds.narrowed, keyword)
	case update.Schema == nil:
		w.emit(r, kinds.extended, keyword)
	default:
		w.at(r, original.Schema, update.Schema, keyword)
	}
}

// unevaluated compares what may stand beyond the members that nothing else
// looked at. Unlike above, true is not the same as absent.
func (w *walker) unevaluated(r *result, original, update *jsonschema.Node, keyword string, kinds extraKinds) {
	is := func(n *jsonschema.Node, kind jsonschema.Kind) bool { return n != nil && n.Kind == kind }
	switch {
	case original == nil && update == nil:
	case is(original, jsonschema.KindFalse) && is(update, jsonschema.KindFalse):
	case is(original, jsonschema.KindFalse):
		w.emit(r, kinds.added, keyword)
	case is(update, jsonschema.KindFalse):
		w.emit(r, kinds.removed, keyword)
	case original == nil:
		w.emit(r, kinds.narrowed, keyword)
	case update == nil:
		w.emit(r, kinds.extended, keyword)
	case is(original, jsonschema.KindEmpty) && is(update, jsonschema.KindEmpty):
	case is(original, jsonschema.KindEmpty):
		w.emit(r, kinds.narrowed, keyword)
	case is(update, jsonschema.KindEmpty):
		w.emit(r, kinds.extended, keyword)
	default:
		w.at(r, original, update, keyword)
	}
}

// dependencies compares what a property brings with it.
func (w *walker) dependencies(r *result, original, update *jsonschema.ObjectRules) {
	if len(original.RequiredWith)+len(update.RequiredWith)+len(original.SchemasWith)+len(update.SchemasWith) == 0 {
		return
	}
	was, is := needs(original.RequiredWith), needs(update.RequiredWith)
	for _, d := range original.RequiredWith {
		u, ok := is[d.Name]
		if !w.c.Step(1 + len(d.Needs)) {
			return
		}
		if !ok {
			w.emit(r, DependencyArrayRemoved, "dependencies", d.Name)
			continue
		}
		more, fewer := missing(u, was[d.Name]), missing(was[d.Name], u)
		switch {
		case more && fewer:
			w.emit(r, DependencyArrayChanged, "dependencies", d.Name)
		case more:
			w.emit(r, DependencyArrayExtended, "dependencies", d.Name)
		case fewer:
			w.emit(r, DependencyArrayNarrowed, "dependencies", d.Name)
		}
	}
	for _, d := range update.RequiredWith {
		if was[d.Name] == nil {
			w.emit(r, DependencyArrayAdded, "dependencies", d.Name)
		}
	}
	w.dependentSchemas(r, original.SchemasWith, update.SchemasWith)
}

func (w *walker) dependentSchemas(r *result, original, update []jsonschema.Property) {
	was, is := byName(original), byName(update)
	for _, p := range original {
		if u := is[p.Name]; u != nil {
			w.at(r, p.Schema, u, "dependencies", p.Name)
		} else {
			w.emit(r, DependencySchemaRemoved, "dependencies", p.Name)
		}
	}
	for _, p := range update {
		if was[p.Name] == nil {
			w.emit(r, DependencySchemaAdded, "dependencies", p.Name)
		}
	}
}

func needs(list []jsonschema.RequiredWith) map[string]map[string]bool {
	out := make(map[string]map[string]bool, len(list))
	for _, d := range list {
		set := make(map[string]bool, len(d.Needs))
		for _, name := range d.Needs {
			set[name] = true
		}
		out[d.Name] = set
	}
	return out
}

func byName(list []jsonschema.Property) map[string]*jsonschema.Node {
	out := make(map[string]*jsonschema.Node, len(list))
	for _, p := range list {
		out[p.Name] = p.Schema
	}
	return out
}
