package protobuf

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/apipb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/sourcecontextpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/typepb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"milena/serde/schema"
)

// The built-in files that the Protobuf module doesn't have, in our own words:
// names, numbers and types of google/type, confluent and buf/validate.
//
//go:embed builtin
var builtinTexts embed.FS

// builtinSet holds the trees of the files that every schema may use without a
// reference.
type builtinSet struct {
	files map[string]*File // by import path
	texts map[string]string
	names *node // of the files that types are found in without an import
	err   error
}

// builtIns returns the set, which is made once and never changes.
var builtIns = sync.OnceValue(loadBuiltIns)

// linkOnly are built-in files that are linked when imported, but whose names
// the reference doesn't know.
func linkOnly(path string) bool { return strings.HasPrefix(path, "buf/") }

func loadBuiltIns() *builtinSet {
	set := &builtinSet{files: map[string]*File{}, texts: map[string]string{}, names: &node{}}
	for _, d := range standardFiles() {
		f, err := fromDescriptor(protodesc.ToFileDescriptorProto(d), schema.Limits{}.WithDefaults())
		if err != nil {
			set.err = fmt.Errorf("built-in file %s: %w", d.Path(), err)
			return set
		}
		set.files[d.Path()] = f
		set.names.add(f)
	}
	for _, path := range builtinPaths() {
		text, err := builtinTexts.ReadFile("builtin/" + path)
		if err != nil {
			set.err = fmt.Errorf("built-in file %s: %w", path, err)
			return set
		}
		f, parseErr := parseText(string(text), schema.Limits{}.WithDefaults())
		if parseErr != nil {
			set.err = fmt.Errorf("built-in file %s: %w", path, parseErr)
			return set
		}
		set.texts[path] = string(text)
		set.files[path] = f
		if !linkOnly(path) {
			set.names.add(f)
		}
	}
	return set
}

func standardFiles() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		descriptorpb.File_google_protobuf_descriptor_proto,
		anypb.File_google_protobuf_any_proto,
		apipb.File_google_protobuf_api_proto,
		durationpb.File_google_protobuf_duration_proto,
		emptypb.File_google_protobuf_empty_proto,
		fieldmaskpb.File_google_protobuf_field_mask_proto,
		sourcecontextpb.File_google_protobuf_source_context_proto,
		structpb.File_google_protobuf_struct_proto,
		timestamppb.File_google_protobuf_timestamp_proto,
		typepb.File_google_protobuf_type_proto,
		wrapperspb.File_google_protobuf_wrappers_proto,
	}
}

func builtinPaths() []string {
	paths := []string{"confluent/meta.proto", "confluent/type/decimal.proto", "confluent/type/variant.proto", "buf/validate/validate.proto"}
	for _, name := range []string{
		"calendar_period", "color", "date", "datetime", "dayofweek", "decimal", "expr", "fraction", "interval",
		"latlng", "localized_text", "money", "month", "phone_number", "postal_address", "quaternion", "timeofday",
	} {
		paths = append(paths, "google/type/"+name+".proto")
	}
	return paths
}
