package jsondiff

import "milena/evolution/diff"

// The kinds of change between JSON Schemas that are no limit's.
const (
	SchemaAdded        diff.Kind = "SCHEMA_ADDED"
	SchemaRemoved      diff.Kind = "SCHEMA_REMOVED"
	IDChanged          diff.Kind = "ID_CHANGED"
	TitleChanged       diff.Kind = "TITLE_CHANGED"
	DescriptionChanged diff.Kind = "DESCRIPTION_CHANGED"
	DefaultChanged     diff.Kind = "DEFAULT_CHANGED"
	TypeChanged        diff.Kind = "TYPE_CHANGED"
	TypeExtended       diff.Kind = "TYPE_EXTENDED"
	TypeNarrowed       diff.Kind = "TYPE_NARROWED"

	PatternAdded       diff.Kind = "PATTERN_ADDED"
	PatternRemoved     diff.Kind = "PATTERN_REMOVED"
	PatternChanged     diff.Kind = "PATTERN_CHANGED"
	MultipleOfAdded    diff.Kind = "MULTIPLE_OF_ADDED"
	MultipleOfRemoved  diff.Kind = "MULTIPLE_OF_REMOVED"
	MultipleOfExpanded diff.Kind = "MULTIPLE_OF_EXPANDED"
	MultipleOfReduced  diff.Kind = "MULTIPLE_OF_REDUCED"
	MultipleOfChanged  diff.Kind = "MULTIPLE_OF_CHANGED"
	UniqueItemsAdded   diff.Kind = "UNIQUE_ITEMS_ADDED"
	UniqueItemsRemoved diff.Kind = "UNIQUE_ITEMS_REMOVED"
	EnumArrayExtended  diff.Kind = "ENUM_ARRAY_EXTENDED"
	EnumArrayNarrowed  diff.Kind = "ENUM_ARRAY_NARROWED"
	EnumArrayChanged   diff.Kind = "ENUM_ARRAY_CHANGED"

	RequiredAttributeAdded            diff.Kind = "REQUIRED_ATTRIBUTE_ADDED"
	RequiredAttributeWithDefaultAdded diff.Kind = "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED"
	RequiredAttributeRemoved          diff.Kind = "REQUIRED_ATTRIBUTE_REMOVED"
	DependencyArrayAdded              diff.Kind = "DEPENDENCY_ARRAY_ADDED"
	DependencyArrayRemoved            diff.Kind = "DEPENDENCY_ARRAY_REMOVED"
	DependencyArrayExtended           diff.Kind = "DEPENDENCY_ARRAY_EXTENDED"
	DependencyArrayNarrowed           diff.Kind = "DEPENDENCY_ARRAY_NARROWED"
	DependencyArrayChanged            diff.Kind = "DEPENDENCY_ARRAY_CHANGED"
	DependencySchemaAdded             diff.Kind = "DEPENDENCY_SCHEMA_ADDED"
	DependencySchemaRemoved           diff.Kind = "DEPENDENCY_SCHEMA_REMOVED"

	NotTypeNarrowed               diff.Kind = "NOT_TYPE_NARROWED"
	NotTypeExtended               diff.Kind = "NOT_TYPE_EXTENDED"
	CombinedTypeExtended          diff.Kind = "COMBINED_TYPE_EXTENDED"
	CombinedTypeChanged           diff.Kind = "COMBINED_TYPE_CHANGED"
	CombinedTypeSubschemasChanged diff.Kind = "COMBINED_TYPE_SUBSCHEMAS_CHANGED"
	ProductTypeExtended           diff.Kind = "PRODUCT_TYPE_EXTENDED"
	ProductTypeNarrowed           diff.Kind = "PRODUCT_TYPE_NARROWED"
	SumTypeExtended               diff.Kind = "SUM_TYPE_EXTENDED"
	SumTypeNarrowed               diff.Kind = "SUM_TYPE_NARROWED"
)

// The kinds of change of what may stand in objects.
const (
	PropertyRemovedOpen      diff.Kind = "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL"
	PropertyRemovedCovered   diff.Kind = "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	PropertyRemovedUncovered diff.Kind = "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	PropertyFalseRemoved     diff.Kind = "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL"
	PropertyRemovedClosed    diff.Kind = "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
	PropertyEmptyAdded       diff.Kind = "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL"
	PropertyAddedCovered     diff.Kind = "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	PropertyAddedUncovered   diff.Kind = "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	RequiredAddedOpen        diff.Kind = "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
	RequiredDefaultAddedOpen diff.Kind = "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL"
	OptionalAddedOpen        diff.Kind = "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
	RequiredAdded            diff.Kind = "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
	RequiredDefaultAdded     diff.Kind = "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL"
	OptionalAdded            diff.Kind = "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"

	AdditionalPropertiesAdded     diff.Kind = "ADDITIONAL_PROPERTIES_ADDED"
	AdditionalPropertiesRemoved   diff.Kind = "ADDITIONAL_PROPERTIES_REMOVED"
	AdditionalPropertiesExtended  diff.Kind = "ADDITIONAL_PROPERTIES_EXTENDED"
	AdditionalPropertiesNarrowed  diff.Kind = "ADDITIONAL_PROPERTIES_NARROWED"
	UnevaluatedPropertiesAdded    diff.Kind = "UNEVALUATED_PROPERTIES_ADDED"
	UnevaluatedPropertiesRemoved  diff.Kind = "UNEVALUATED_PROPERTIES_REMOVED"
	UnevaluatedPropertiesExtended diff.Kind = "UNEVALUATED_PROPERTIES_EXTENDED"
	UnevaluatedPropertiesNarrowed diff.Kind = "UNEVALUATED_PROPERTIES_NARROWED"
)

// The kinds of change of what may stand in arrays.
const (
	ItemRemovedOpen      diff.Kind = "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL"
	ItemRemovedCovered   diff.Kind = "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	ItemRemovedUncovered diff.Kind = "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	ItemFalseRemoved     diff.Kind = "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL"
	ItemRemovedClosed    diff.Kind = "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL"
	ItemEmptyAdded       diff.Kind = "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL"
	ItemAddedOpen        diff.Kind = "ITEM_ADDED_TO_OPEN_CONTENT_MODEL"
	ItemAddedCovered     diff.Kind = "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	ItemAddedUncovered   diff.Kind = "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	ItemAddedClosed      diff.Kind = "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL"

	AdditionalItemsAdded     diff.Kind = "ADDITIONAL_ITEMS_ADDED"
	AdditionalItemsRemoved   diff.Kind = "ADDITIONAL_ITEMS_REMOVED"
	AdditionalItemsExtended  diff.Kind = "ADDITIONAL_ITEMS_EXTENDED"
	AdditionalItemsNarrowed  diff.Kind = "ADDITIONAL_ITEMS_NARROWED"
	UnevaluatedItemsAdded    diff.Kind = "UNEVALUATED_ITEMS_ADDED"
	UnevaluatedItemsRemoved  diff.Kind = "UNEVALUATED_ITEMS_REMOVED"
	UnevaluatedItemsExtended diff.Kind = "UNEVALUATED_ITEMS_EXTENDED"
	UnevaluatedItemsNarrowed diff.Kind = "UNEVALUATED_ITEMS_NARROWED"
)

// bound is a keyword that limits something. Its kinds of change are its name
// with what became of it.
type bound struct {
	keyword string
	name    string
	upper   bool // a larger value lets more through
}

// What may become of a bound.
const (
	boundAdded     = "_ADDED"
	boundRemoved   = "_REMOVED"
	boundIncreased = "_INCREASED"
	boundDecreased = "_DECREASED"
)

func (b bound) kind(what string) diff.Kind { return diff.Kind(b.name + what) }

func maxLength() bound        { return bound{"maxLength", "MAX_LENGTH", true} }
func minLength() bound        { return bound{"minLength", "MIN_LENGTH", false} }
func maximum() bound          { return bound{"maximum", "MAXIMUM", true} }
func minimum() bound          { return bound{"minimum", "MINIMUM", false} }
func exclusiveMaximum() bound { return bound{"exclusiveMaximum", "EXCLUSIVE_MAXIMUM", true} }
func exclusiveMinimum() bound { return bound{"exclusiveMinimum", "EXCLUSIVE_MINIMUM", false} }
func maxItems() bound         { return bound{"maxItems", "MAX_ITEMS", true} }
func minItems() bound         { return bound{"minItems", "MIN_ITEMS", false} }
func maxContains() bound      { return bound{"maxContains", "MAX_CONTAINS", true} }
func minContains() bound      { return bound{"minContains", "MIN_CONTAINS", false} }
func maxProperties() bound    { return bound{"maxProperties", "MAX_PROPERTIES", true} }
func minProperties() bound    { return bound{"minProperties", "MIN_PROPERTIES", false} }
