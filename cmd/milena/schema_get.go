package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/registry/client"
)

func getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get SUBJECT[@VERSION] | --id ID | --guid GUID",
		Short: "Print a schema",
		Long: "Print the text of a schema: of the latest version of a subject or another one, or by id or GUID.\n" +
			"With -o json it comes with everything that the registry says about it.",
		Example: "  milena schema get orders-value\n" +
			"  milena schema get orders-value@3 --pretty\n" +
			"  milena schema get --id 17 -o json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSubjectOnly,
	}
	f := cmd.Flags()
	f.Int("id", 0, "id of the schema")
	f.String("guid", "", "GUID of the schema")
	f.String("format", "", "form of the text: resolved (Avro), serialized or ignore_extensions (Protobuf)")
	f.Bool("deleted", false, "also if it is soft deleted")
	f.Bool("pretty", false, "indent JSON")
	completeFlag(cmd, "format", "resolved", "serialized", "ignore_extensions")
	cmd.MarkFlagsMutuallyExclusive("id", "guid")
	cmd.RunE = withSession(getSchema)
	return cmd
}

func getSchema(ctx context.Context, s *session, args []string) error {
	f := s.cmd.Flags()
	id, _ := f.GetInt("id")
	guid, _ := f.GetString("guid")
	format, _ := f.GetString("format")
	deleted, _ := f.GetBool("deleted")
	byID, byGUID := f.Changed("id"), f.Changed("guid")
	if (byID || byGUID) == (len(args) == 1) {
		return cli.Unusable(errors.New("want one of SUBJECT, --id and --guid"), "")
	}
	var value any
	var text string
	var err error
	switch {
	case byID:
		v, e := s.client.SchemaByID(ctx, id, client.IDQuery{Format: format})
		value, text, err = v, v.Schema, e
	case byGUID:
		v, e := s.client.SchemaByGUID(ctx, guid, format)
		value, text, err = v, v.Schema, e
	default:
		subject, version := splitVersion(args[0])
		v, e := s.client.Version(ctx, subject, strings.ToLower(version), client.VersionQuery{Deleted: deleted, Format: format})
		value, text, err = v, v.Schema, e
	}
	if err != nil {
		return err
	}
	if pretty, _ := f.GetBool("pretty"); pretty {
		var b bytes.Buffer
		if json.Indent(&b, []byte(text), "", "  ") == nil {
			text = b.String()
		}
	}
	return s.out.Value(value, text)
}
