package jsondiff

import (
	"strconv"

	"milena/serde/jsonschema"
)

func (w *walker) arrays(r *result, original, update *jsonschema.ArrayRules) {
	w.bound(r, maxItems(), original.MaxItems, update.MaxItems)
	w.bound(r, minItems(), original.MinItems, update.MinItems)
	w.bound(r, maxContains(), original.MaxContains, update.MaxContains)
	w.bound(r, minContains(), original.MinContains, update.MinContains)
	switch {
	case original.Unique && !update.Unique:
		w.emit(r, UniqueItemsRemoved, "uniqueItems")
	case !original.Unique && update.Unique:
		w.emit(r, UniqueItemsAdded, "uniqueItems")
	}
	w.at(r, original.All, update.All, "items")
	w.extra(r, original.Additional, update.Additional, "additionalItems", extraKinds{
		AdditionalItemsAdded, AdditionalItemsRemoved, AdditionalItemsExtended, AdditionalItemsNarrowed,
	})
	w.unevaluated(r, original.Unevaluated, update.Unevaluated, "unevaluatedItems", extraKinds{
		UnevaluatedItemsAdded, UnevaluatedItemsRemoved, UnevaluatedItemsExtended, UnevaluatedItemsNarrowed,
	})
	w.items(r, original, update)
}

// items compares the items that have schemas by their positions.
func (w *walker) items(r *result, original, update *jsonschema.ArrayRules) {
	for i := range max(len(original.Items), len(update.Items)) {
		if !w.c.Step(1) || w.enough(r) {
			return
		}
		w.c.Push("items", strconv.Itoa(i))
		switch {
		case i >= len(update.Items):
			w.itemRemoved(r, original.Items[i], update)
		case i >= len(original.Items):
			w.itemAdded(r, original, update.Items[i])
		default:
			w.merge(r, w.schemas(original.Items[i], update.Items[i]))
		}
		w.c.Pop(2)
	}
}

// modelOfItems returns what an array schema says about items without a schema
// of their own.
func modelOfItems(a *jsonschema.ArrayRules) model {
	rest := a.Unevaluated
	switch {
	case a.Additional.Schema != nil:
		return model{cover: a.Additional.Schema}
	case a.Additional.Closed:
		return model{}
	case rest == nil || rest.Kind == jsonschema.KindEmpty:
		return model{open: true}
	case rest.Kind == jsonschema.KindFalse:
		return model{}
	}
	return model{cover: rest}
}

func (w *walker) itemRemoved(r *result, item *jsonschema.Node, update *jsonschema.ArrayRules) {
	m := modelOfItems(update)
	switch {
	case m.open:
		w.emit(r, ItemRemovedOpen)
	case m.cover != nil:
		w.covered(r, item, m.cover, ItemRemovedCovered, ItemRemovedUncovered)
	case item.Kind == jsonschema.KindFalse:
		w.emit(r, ItemFalseRemoved)
	default:
		w.emit(r, ItemRemovedClosed)
	}
}

func (w *walker) itemAdded(r *result, original *jsonschema.ArrayRules, item *jsonschema.Node) {
	m := modelOfItems(original)
	switch {
	case m.open && item.Kind == jsonschema.KindEmpty:
		w.emit(r, ItemEmptyAdded)
	case m.open:
		w.emit(r, ItemAddedOpen)
	case m.cover != nil:
		w.covered(r, m.cover, item, ItemAddedCovered, ItemAddedUncovered)
	default:
		w.emit(r, ItemAddedClosed)
	}
}
