package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/registry/api"
	"milena/registry/client"
	"milena/registry/errcode"
	"milena/serde/format"
)

func registerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "register SUBJECT FILE",
		Short: "Register a schema under a subject",
		Long: "Register a schema under a subject; FILE - is standard input. The same schema again gives the\n" +
			"same version.\n\n" +
			"References are given one by one (NAME=SUBJECT:VERSION, NAME being what the schema calls it), or\n" +
			"found in a folder: Protobuf imports by path, Avro types by full name, JSON Schemas by path or\n" +
			"$id. What is found there is registered first, under the subject of its name, unless it is\n" +
			"registered already.",
		Example: "  milena schema register orders-value order.avsc\n" +
			"  milena schema register orders-value order.proto --references ./proto\n" +
			"  milena schema register orders-value order.avsc --references com.acme.Money=money-value:3\n" +
			"  protoc -o order.desc --include_imports order.proto && milena schema register orders-value order.desc",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeSubjectThenFile,
	}
	f := cmd.Flags()
	f.String("type", "", "format of the schema: avro, json or protobuf; default is told from the file")
	f.StringArray("references", nil, "`NAME=SUBJECT:VERSION`, or a folder; may be repeated")
	f.Bool("normalize", false, "register the normalized text, and those of references")
	f.Bool("dry-run", false, "say what would happen, and do nothing; needs a Milena registry")
	f.Bool("force", false, "without a check of compatibility")
	f.Int("id", 0, "id to import it with; needs mode IMPORT")
	f.Int("version", 0, "version that it must get")
	f.String("metadata", "", "file with the metadata as JSON: tags, properties, sensitive")
	f.String("rule-set", "", "file with the rules as JSON: migrationRules, domainRules, encodingRules")
	completeFlag(cmd, "type", "avro", "json", "protobuf")
	cmd.RunE = withSession(register)
	return cmd
}

func register(ctx context.Context, s *session, args []string) error {
	f := s.cmd.Flags()
	subject := args[0]
	given, _ := f.GetString("type")
	src, err := readFile(s.cmd.InOrStdin(), args[1], given)
	if err != nil {
		return err
	}
	refs, _ := f.GetStringArray("references")
	if err := s.addReferences(ctx, src, refs); err != nil {
		return err
	}
	o := client.RegisterOptions{}
	o.Normalize, _ = f.GetBool("normalize")
	o.Force, _ = f.GetBool("force")
	dry, _ := f.GetBool("dry-run")
	req, err := s.request(ctx, src, o.Normalize, dry)
	if err != nil {
		return err
	}
	if err := s.extras(&req); err != nil {
		return err
	}
	if dry {
		return s.tryRegister(ctx, src, subject, req, o)
	}
	answer, err := s.client.Register(ctx, subject, req, o)
	if err != nil {
		return wrong(src, err)
	}
	if answer.Version == 0 { // older registries answer with the id alone
		if found, err := s.client.Lookup(ctx, subject, req, client.LookupOptions{Normalize: o.Normalize}); err == nil {
			answer.Version = found.Version
		}
	}
	return s.out.Value(answer, fmt.Sprintf("%s: version %d, id %d", subject, answer.Version, answer.ID))
}

// extras reads what a request has besides text and references.
func (s *session) extras(req *api.RegisterRequest) error {
	f := s.cmd.Flags()
	if id, _ := f.GetInt("id"); f.Changed("id") {
		req.ID = &id
	}
	if version, _ := f.GetInt("version"); f.Changed("version") {
		req.Version = &version
	}
	body := map[string]string{}
	for flag, member := range map[string]string{"metadata": "metadata", "rule-set": "ruleSet"} {
		path, _ := f.GetString(flag)
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return cli.Unusable(fmt.Errorf("--%s: %w", flag, err), "")
		}
		body[member] = string(text)
	}
	for member, text := range body {
		// The registry's own reading gives the same errors before anything is sent.
		parsed, err := api.DecodeRegister([]byte(`{"` + member + `":` + text + `}`))
		if err != nil {
			return cli.Unusable(fmt.Errorf("%s: %w", member, err), "")
		}
		if member == "metadata" {
			req.Metadata = parsed.Metadata
		} else {
			req.RuleSet = parsed.RuleSet
		}
	}
	return nil
}

func (s *session) tryRegister(ctx context.Context, src *source, subject string, req api.RegisterRequest, o client.RegisterOptions) error {
	answer, err := s.client.TryRegister(ctx, subject, req, o)
	if client.IsMissing(err) {
		return cli.Unusable(errors.New(s.registry()+" can't try a registration"), "milena schema diff SUBJECT FILE compares without registering")
	}
	if err != nil {
		return wrong(src, err)
	}
	var text string
	switch {
	case !answer.IsCompatible:
		text = subject + ": would be refused as incompatible:\n  " + strings.Join(answer.Messages, "\n  ")
	case answer.Created:
		text = fmt.Sprintf("%s: would be version %d, id %d", subject, answer.Version, answer.ID)
	default:
		text = fmt.Sprintf("%s: is version %d, id %d already", subject, answer.Version, answer.ID)
	}
	if err := s.out.Value(answer, text); err != nil {
		return err
	}
	if !answer.IsCompatible {
		return cli.Said()
	}
	return nil
}

// wrong says what is wrong with a schema that a registry refused as invalid, if
// it can be told here: with the place in the file, and without the text.
func wrong(src *source, err error) error {
	if !errors.Is(err, errcode.InvalidSchema) || len(src.references) > 0 {
		return err
	}
	_, parsing := format.Parse(src.schema)
	if parsing == nil {
		return err
	}
	return cli.Refused(fmt.Errorf("%s is no %s schema: %w (%d)", src.label, src.schema.Type, parsing, errcode.InvalidSchema.Code), parseHint(src))
}
