package jsondiff

import "milena/evolution/diff"

// verdict is a change kind's verdict under the two policies.
type verdict uint8

const (
	fits   verdict = iota // readers can read
	strict                // it breaks readers, but the lenient policy lets it pass
	breaks                // it breaks readers
)

func row(kind diff.Kind, v verdict, where, message, source string) diff.Rule {
	return diff.Rule{
		Kind: kind, Breaks: v != fits, Lenient: v == breaks,
		Where: where, Message: message + " (path '{path}')", Source: source,
	}
}

// Sources of the rules.
const (
	observed     = "observed: the reference's checker"
	validation   = "JSON Schema Validation, section 6"
	applicators  = "JSON Schema Core, section 10.2"
	contentModel = "observed: the content models of the reference's checker"
	annotations  = "JSON Schema Validation, section 9: annotations assert nothing"
)

// Rules returns the table of change kinds, freshly made.
func Rules() []diff.Rule {
	var rules []diff.Rule
	rules = append(rules, schemaRules()...)
	rules = append(rules, keywordRules()...)
	rules = append(rules, combinedRules()...)
	rules = append(rules, propertyRules()...)
	rules = append(rules, itemRules()...)
	for _, b := range []bound{
		maxLength(), minLength(), maximum(), minimum(), exclusiveMaximum(), exclusiveMinimum(), maxItems(), minItems(),
		maxContains(), minContains(), maxProperties(), minProperties(),
	} {
		rules = append(rules, b.rules()...)
	}
	return diff.Advise(rules, advice(), "Every document that the {writer} schema allows is still valid for the {reader} schema.")
}

func (b bound) rules() []diff.Rule {
	up, down := breaks, fits
	if b.upper {
		up, down = fits, breaks
	}
	where := "the keyword " + b.keyword
	return []diff.Rule{
		row(b.kind(boundAdded), breaks, where, "The {reader} schema has "+b.keyword+", which the {writer} schema has not", validation),
		row(b.kind(boundRemoved), fits, where, "The {reader} schema lacks "+b.keyword+" of the {writer} schema", validation),
		row(b.kind(boundIncreased), up, where, "The {reader} schema has a larger "+b.keyword+" than the {writer} schema", validation),
		row(b.kind(boundDecreased), down, where, "The {reader} schema has a smaller "+b.keyword+" than the {writer} schema", validation),
	}
}

func schemaRules() []diff.Rule {
	const where = "the schema"
	return []diff.Rule{
		row(SchemaAdded, breaks, where, "The {reader} schema demands something where the {writer} schema has nothing", observed),
		row(SchemaRemoved, fits, where, "The {reader} schema demands nothing where the {writer} schema has something", observed),
		row(IDChanged, fits, where, "The identifier differs", annotations),
		row(TitleChanged, fits, where, "The title differs", annotations),
		row(DescriptionChanged, fits, where, "The description differs", annotations),
		row(DefaultChanged, fits, where, "The default differs", annotations),
		row(TypeChanged, breaks, where, "The type in the {reader} schema differs from the one in the {writer} schema", validation),
		row(TypeExtended, fits, where, "The {reader} schema takes numbers where the {writer} schema has integers", validation),
		row(TypeNarrowed, breaks, where, "The {reader} schema takes integers only where the {writer} schema has numbers", validation),
	}
}

func keywordRules() []diff.Rule {
	const (
		dependency = "the property that others depend on"
		required   = "the name of the property"
	)
	return []diff.Rule{
		row(PatternAdded, breaks, "the pattern", "The {reader} schema has a pattern, which the {writer} schema has not", validation),
		row(PatternRemoved, fits, "the pattern", "The {reader} schema lacks the pattern of the {writer} schema", validation),
		row(PatternChanged, breaks, "the pattern", "The pattern in the {reader} schema differs from the one in the {writer} schema", validation),
		row(MultipleOfAdded, breaks, "multipleOf", "The {reader} schema has multipleOf, which the {writer} schema has not", validation),
		row(MultipleOfRemoved, fits, "multipleOf", "The {reader} schema lacks multipleOf of the {writer} schema", validation),
		row(MultipleOfExpanded, breaks, "multipleOf", "The multipleOf of the {reader} schema is a multiple of the one in the {writer} schema", validation),
		row(MultipleOfReduced, fits, "multipleOf", "The multipleOf of the {writer} schema is a multiple of the one in the {reader} schema", validation),
		row(MultipleOfChanged, breaks, "multipleOf", "The multipleOf in the {reader} schema differs from the one in the {writer} schema", validation),
		row(UniqueItemsAdded, breaks, "uniqueItems", "The {reader} schema wants unique items, which the {writer} schema does not", validation),
		row(UniqueItemsRemoved, fits, "uniqueItems", "The {writer} schema wants unique items, which the {reader} schema does not", validation),
		row(EnumArrayExtended, fits, "the values", "The {reader} schema has values that the {writer} schema has not", validation),
		row(EnumArrayNarrowed, breaks, "the values", "The {reader} schema lacks values of the {writer} schema", validation),
		row(EnumArrayChanged, breaks, "the values", "The values in the {reader} schema are not those of the {writer} schema", validation),
		row(RequiredAttributeAdded, breaks, required, "The {reader} schema requires a property that the {writer} schema does not", validation),
		row(RequiredAttributeWithDefaultAdded, fits, required, "The {reader} schema requires a property, with a default, that the {writer} schema does not", observed),
		row(RequiredAttributeRemoved, fits, required, "The {writer} schema requires a property that the {reader} schema does not", validation),
		row(DependencyArrayAdded, breaks, dependency, "The {reader} schema makes properties depend on one, which the {writer} schema does not", validation),
		row(DependencyArrayRemoved, fits, dependency, "The {writer} schema makes properties depend on one, which the {reader} schema does not", validation),
		row(DependencyArrayExtended, breaks, dependency, "In the {reader} schema more properties depend on one than in the {writer} schema", validation),
		row(DependencyArrayNarrowed, fits, dependency, "In the {reader} schema fewer properties depend on one than in the {writer} schema", validation),
		row(DependencyArrayChanged, breaks, dependency, "In the {reader} schema other properties depend on one than in the {writer} schema", validation),
		row(DependencySchemaAdded, breaks, dependency, "The {reader} schema makes a schema depend on a property, which the {writer} schema does not", applicators),
		row(DependencySchemaRemoved, fits, dependency, "The {writer} schema makes a schema depend on a property, which the {reader} schema does not", applicators),
	}
}

func combinedRules() []diff.Rule {
	const where = "the combined schema"
	return []diff.Rule{
		row(NotTypeNarrowed, fits, "the keyword not", "The {reader} schema excludes less than the {writer} schema", applicators),
		row(NotTypeExtended, breaks, "the keyword not", "The {reader} schema excludes what the {writer} schema does not", applicators),
		row(CombinedTypeExtended, fits, where, "The {reader} schema combines its parts in a way that lets more through than that of the {writer} schema", applicators),
		row(CombinedTypeChanged, breaks, where, "The {reader} schema combines its parts in another way than the {writer} schema", applicators),
		row(CombinedTypeSubschemasChanged, breaks, where, "Not every part of the {writer} schema can be read by a part of the {reader} schema of its own", observed),
		row(ProductTypeExtended, breaks, where, "The {reader} schema has more parts that must all hold than the {writer} schema", applicators),
		row(ProductTypeNarrowed, fits, where, "The {reader} schema has fewer parts that must all hold than the {writer} schema", applicators),
		row(SumTypeExtended, fits, where, "The {reader} schema has more parts to choose from than the {writer} schema", applicators),
		row(SumTypeNarrowed, breaks, where, "The {reader} schema has fewer parts to choose from than the {writer} schema", applicators),
	}
}

func propertyRules() []diff.Rule {
	const (
		where   = "the property"
		others  = "the keyword additionalProperties"
		unknown = "the keyword unevaluatedProperties"
		lost    = "The {reader} schema lacks a property of the {writer} schema"
		gained  = "The {reader} schema has a property that the {writer} schema has not"
	)
	return []diff.Rule{
		row(PropertyRemovedOpen, fits, where, lost+" and takes any other", contentModel),
		row(PropertyRemovedCovered, fits, where, lost+" and takes it as one of the others", contentModel),
		row(PropertyRemovedUncovered, strict, where, lost+" and takes only different ones as others", contentModel),
		row(PropertyFalseRemoved, fits, where, lost+", which allowed no value there", contentModel),
		row(PropertyRemovedClosed, strict, where, lost+" and takes no others", contentModel),
		row(PropertyEmptyAdded, fits, where, gained+" and takes any value there", contentModel),
		row(PropertyAddedCovered, fits, where, gained+" but allows as one of the others", contentModel),
		row(PropertyAddedUncovered, strict, where, gained+" but allows with different values as one of the others", contentModel),
		row(RequiredAddedOpen, breaks, where, gained+" but allows with any value, and requires it", contentModel),
		row(RequiredDefaultAddedOpen, strict, where, gained+" but allows with any value, and requires it, with a default", contentModel),
		row(OptionalAddedOpen, strict, where, gained+" but allows with any value", contentModel),
		row(RequiredAdded, breaks, where, gained+", and requires it", contentModel),
		row(RequiredDefaultAdded, fits, where, gained+", and requires it, with a default", contentModel),
		row(OptionalAdded, fits, where, gained, contentModel),
		row(AdditionalPropertiesAdded, fits, others, "The {reader} schema takes other properties, which the {writer} schema does not", applicators),
		row(AdditionalPropertiesRemoved, strict, others, "The {reader} schema takes no other properties, which the {writer} schema does", applicators),
		row(AdditionalPropertiesExtended, fits, others, "The {reader} schema takes any other properties, the {writer} schema only some", applicators),
		row(AdditionalPropertiesNarrowed, strict, others, "The {reader} schema takes only some other properties, the {writer} schema any", applicators),
		row(UnevaluatedPropertiesAdded, fits, unknown, "The {reader} schema takes unevaluated properties, which the {writer} schema does not", applicators),
		row(UnevaluatedPropertiesRemoved, strict, unknown, "The {reader} schema takes no unevaluated properties, which the {writer} schema does", applicators),
		row(UnevaluatedPropertiesExtended, fits, unknown, "The {reader} schema takes any unevaluated properties, the {writer} schema only some", applicators),
		row(UnevaluatedPropertiesNarrowed, strict, unknown, "The {reader} schema takes only some unevaluated properties, the {writer} schema any", applicators),
	}
}

func itemRules() []diff.Rule {
	const (
		where   = "the item"
		others  = "the keyword for additional items"
		unknown = "the keyword unevaluatedItems"
		lost    = "The {reader} schema lacks an item of the {writer} schema"
		gained  = "The {reader} schema has an item that the {writer} schema has not"
	)
	return []diff.Rule{
		row(ItemRemovedOpen, fits, where, lost+" and takes any other", contentModel),
		row(ItemRemovedCovered, fits, where, lost+" and takes it as one of the others", contentModel),
		row(ItemRemovedUncovered, breaks, where, lost+" and takes only different ones as others", contentModel),
		row(ItemFalseRemoved, fits, where, lost+", which allowed no value there", contentModel),
		row(ItemRemovedClosed, breaks, where, lost+" and takes no others", contentModel),
		row(ItemEmptyAdded, fits, where, gained+" and takes any value there", contentModel),
		row(ItemAddedOpen, breaks, where, gained+" but allows with any value", contentModel),
		row(ItemAddedCovered, fits, where, gained+" but allows as one of the others", contentModel),
		row(ItemAddedUncovered, breaks, where, gained+" but allows with different values as one of the others", contentModel),
		row(ItemAddedClosed, fits, where, gained, contentModel),
		row(AdditionalItemsAdded, fits, others, "The {reader} schema takes other items, which the {writer} schema does not", applicators),
		row(AdditionalItemsRemoved, breaks, others, "The {reader} schema takes no other items, which the {writer} schema does", applicators),
		row(AdditionalItemsExtended, fits, others, "The {reader} schema takes any other items, the {writer} schema only some", applicators),
		row(AdditionalItemsNarrowed, breaks, others, "The {reader} schema takes only some other items, the {writer} schema any", applicators),
		row(UnevaluatedItemsAdded, fits, unknown, "The {reader} schema takes unevaluated items, which the {writer} schema does not", applicators),
		row(UnevaluatedItemsRemoved, breaks, unknown, "The {reader} schema takes no unevaluated items, which the {writer} schema does", applicators),
		row(UnevaluatedItemsExtended, fits, unknown, "The {reader} schema takes any unevaluated items, the {writer} schema only some", applicators),
		row(UnevaluatedItemsNarrowed, breaks, unknown, "The {reader} schema takes only some unevaluated items, the {writer} schema any", applicators),
	}
}
