package jsondiff

import (
	"maps"

	"milena/evolution/diff"
)

// advice says of each kind that breaks why, and what would not.
func advice() map[diff.Kind]diff.Advice {
	out := valueAdvice()
	maps.Copy(out, propertyAdvice())
	maps.Copy(out, itemAdvice())
	for _, b := range []bound{
		maxLength(), minLength(), maximum(), minimum(), exclusiveMaximum(), exclusiveMinimum(), maxItems(), minItems(),
		maxContains(), minContains(), maxProperties(), minProperties(),
	} {
		out[b.kind(boundAdded)] = diff.Advice{
			"The {reader} schema limits values by " + b.keyword + ", the {writer} schema does not: data written with the {writer} schema may be outside.",
			"remove " + b.keyword + " again, or add a new property that has it",
			"keep " + b.keyword + " {old}: schemas in use demand it",
		}
		tightened, more, less := boundIncreased, " or lower", " or higher"
		if b.upper {
			tightened, more, less = boundDecreased, " or higher", " or lower"
		}
		out[b.kind(tightened)] = diff.Advice{
			"The {reader} schema has a tighter " + b.keyword + " than the {writer} schema ({old} in the old one, {new} in the new one): data written with the {writer} schema may be outside.",
			"set " + b.keyword + " to {old}" + more, "set " + b.keyword + " to {old}" + less,
		}
	}
	return out
}

func valueAdvice() map[diff.Kind]diff.Advice {
	const (
		backPattern = "put the pattern back as it was ({old})"
		depends     = "Documents of the {writer} schema may have {name} without what the {reader} schema demands beside it."
		undepend    = "take the new dependency on {name} out again"
		keepDepend  = "keep the dependency on {name}: schemas in use demand it"
		multiples   = "Numbers of the {writer} schema may be no multiples of what the {reader} schema wants ({old} before, {new} now)."
		backBranch  = "put the old branch back, or make one branch accept what it accepted"
		keepBranch  = "take the new branch out again, or narrow it to what the old schema accepts"
	)
	return map[diff.Kind]diff.Advice{
		SchemaAdded:     {"There was no rule for {name} in the {writer} schema, so its data may hold anything there.", "remove the new schema of {name}", "keep the schema of {name}: schemas in use demand it"},
		TypeChanged:     {"The type of {name} differs, so data written with the {writer} schema may not fit the {reader} schema: {old} in the old one, {new} in the new one.{kinds}", "allow the old type of {name} as well (oneOf, or a list of types){orProperty}", "keep the old type of {name}{orProperty}"},
		TypeNarrowed:    {"The {writer} schema allows any number, the {reader} schema only integers.", `keep "type": "number"`, `keep "type": "integer": schemas in use take only integers`},
		PatternAdded:    {"Strings of the {writer} schema may not match the pattern of the {reader} schema.", "remove the pattern", "keep the pattern {old}: schemas in use demand it"},
		PatternChanged:  {"Strings that match one pattern may not match the other ({old} before, {new} now).", backPattern, backPattern},
		MultipleOfAdded: {multiples, "remove multipleOf", "keep multipleOf {old}"},
		MultipleOfExpanded: {
			multiples, "set multipleOf back to {old}, or to a divisor of it", "set multipleOf back to {old}, or to a multiple of it",
		},
		MultipleOfChanged: {multiples, "set multipleOf back to {old}, or to a divisor of it", "set multipleOf back to {old}, or to a multiple of it"},
		UniqueItemsAdded:  {"Arrays of the {writer} schema may have equal items, which the {reader} schema refuses.", "remove uniqueItems", "keep uniqueItems: schemas in use demand it"},
		EnumArrayNarrowed: {"Data of the {writer} schema may hold values that the {reader} schema does not list ({old} before, {new} now).", "put the removed values back", "take the added values out again: schemas in use refuse them"},
		EnumArrayChanged: {
			"Data of the {writer} schema may hold values that the {reader} schema does not list ({old} before, {new} now).",
			"put the removed values back", "take the added values out again: schemas in use refuse them",
		},
		RequiredAttributeAdded: {
			"The {reader} schema requires {name}, and data of the {writer} schema may lack it.",
			"take {name} out of required, or give the property a default", "keep {name} in required: schemas in use demand it",
		},
		DependencyArrayAdded:    {depends, undepend, keepDepend},
		DependencyArrayExtended: {depends, undepend, keepDepend},
		DependencyArrayChanged:  {depends, "put the dependency on {name} back as it was ({old})", "put the dependency on {name} back as it was ({old})"},
		DependencySchemaAdded:   {depends, undepend, keepDepend},
		NotTypeExtended:         {"The {reader} schema excludes by not what the {writer} schema allows.", "exclude no more than the old schema did", "exclude no less than the old schema did"},
		CombinedTypeChanged: {
			"The {reader} schema combines the parts more strictly than the {writer} schema (allOf wants all of them, oneOf exactly one, anyOf at least one).",
			"keep the old keyword, or use anyOf", "keep the old keyword, or use allOf",
		},
		CombinedTypeSubschemasChanged: {"Some part of the {writer} schema fits no part of the {reader} schema of its own.", backBranch, keepBranch},
		ProductTypeExtended:           {"Data has to satisfy more parts of allOf in the {reader} schema than in the {writer} schema.", "take the new part out of allOf", "put the removed part back into allOf"},
		SumTypeNarrowed:               {"Data of the {writer} schema may be of a branch that the {reader} schema does not have.", backBranch, keepBranch},
	}
}

func propertyAdvice() map[diff.Kind]diff.Advice {
	const (
		anyName   = "The {writer} schema's objects are open: data may already have a property {name} with any value, which the {reader} schema may refuse."
		closing   = `leave {name} without a type ("{name}": {}), or judge by the policy LENIENT if no data has names that its schema doesn't know`
		keepOrCut = `keep the property {name}, or close the content model ("additionalProperties": false)`
		required  = "take {name} out of required, or give it a default"
		narrowed  = "The {writer} schema allows more other properties than the {reader} schema, and data may have them."
		widen     = "put {keyword} back as it was ({old})"
	)
	unevaluated := diff.Advice{narrowed, widen, "put {keyword} back as it was ({old}): schemas in use refuse more"}
	return map[diff.Kind]diff.Advice{
		PropertyRemovedUncovered: {
			"Data may have {name}, and the {reader} schema allows other properties only with other values.",
			"keep the property {name}, or let additionalProperties or patternProperties allow its values",
			"take {name} out again, or give it values that the old schema's additionalProperties or patternProperties allow",
		},
		PropertyRemovedClosed: {
			"Data may have {name}, and the {reader} schema's objects are closed: any property that is not listed is refused.",
			`keep the property {name}, or open the content model (remove "additionalProperties": false)`,
			"take {name} out again: schemas in use refuse properties that they don't know; open the content model first and add it in a later version",
		},
		PropertyAddedUncovered: {
			"Data may already have a property {name} as one of the others, with values that the {reader} schema refuses.",
			"give {name} the schema that additionalProperties or patternProperties had for it", "keep the property {name}, or let additionalProperties allow no more than it did",
		},
		RequiredAddedOpen:        {anyName + " It is required as well.", required + "; then " + closing, keepOrCut},
		RequiredDefaultAddedOpen: {anyName, closing, keepOrCut},
		OptionalAddedOpen:        {anyName, closing, keepOrCut},
		RequiredAdded: {
			"The {reader} schema requires {name}, which data of the {writer} schema does not have.",
			required, "keep the property {name}: schemas in use require it",
		},
		AdditionalPropertiesRemoved:   unevaluated,
		AdditionalPropertiesNarrowed:  unevaluated,
		UnevaluatedPropertiesRemoved:  unevaluated,
		UnevaluatedPropertiesNarrowed: unevaluated,
	}
}

func itemAdvice() map[diff.Kind]diff.Advice {
	others := diff.Advice{
		"The {writer} schema allows more other items than the {reader} schema, and arrays may have them.",
		"put {keyword} back as it was ({old})", "put {keyword} back as it was ({old}): schemas in use refuse more",
	}
	anyItem := diff.Advice{
		"Arrays may already be that long, with values at item {keyword} that the {reader} schema refuses.",
		"take the schema of item {keyword} out again, or leave it without a type", "keep the schema of item {keyword}, or allow no further items",
	}
	lost := diff.Advice{
		"Arrays may have item {keyword}, which the {reader} schema refuses.",
		"keep item {keyword}, or allow it as one of the further items", "take item {keyword} out again: schemas in use refuse it",
	}
	return map[diff.Kind]diff.Advice{
		ItemRemovedUncovered: lost, ItemRemovedClosed: lost,
		ItemAddedOpen: anyItem, ItemAddedUncovered: anyItem,
		AdditionalItemsRemoved: others, AdditionalItemsNarrowed: others,
		UnevaluatedItemsRemoved: others, UnevaluatedItemsNarrowed: others,
	}
}
