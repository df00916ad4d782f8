package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/evolution"
	"milena/serde/format"
	"milena/serde/schema"
)

func diffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two schemas by meaning",
		Long: "Compare two schemas by meaning: what differs, whether data written with one can be read with the\n" +
			"other, and which compatibility levels hold. Each of the two is a file, SUBJECT, SUBJECT@VERSION or\n" +
			"id:ID; a file with the name of a subject is meant if there is one. Only registered schemas need a\n" +
			"registry.\n\n" +
			"The exit code is 0 if NEW may follow OLD at the level, else 1. The level is --level, else that of\n" +
			"the subject, if OLD or NEW is one, else BACKWARD.",
		Example: "  milena schema diff orders-value order.avsc\n" +
			"  milena schema diff orders-value@1 orders-value@2 --level FULL\n" +
			"  milena schema diff old.proto new.proto --references ./proto",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeSubjectOrFile,
	}
	f := cmd.Flags()
	f.String("type", "", "format of schema files: avro, json or protobuf; default is told from the file")
	f.StringArray("references", nil, "for schema files: `NAME=SUBJECT:VERSION`, or a folder; may be repeated")
	f.String("level", "", "compatibility level that the exit code tells of")
	f.String("policy", "", "STRICT or LENIENT; default is the subject's, else STRICT")
	completeFlag(cmd, "level", "NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE", "FULL_TRANSITIVE")
	completeFlag(cmd, "policy", "STRICT", "LENIENT")
	completeFlag(cmd, "type", "avro", "json", "protobuf")
	cmd.RunE = withSession(diffSchemas)
	return cmd
}

// comparison is the result of a diff, for programs.
type comparison struct {
	Old        side         `json:"old"`
	New        side         `json:"new"`
	Same       bool         `json:"same"` // the texts are the same, but for how they are written
	NewReads   direction    `json:"newReadsOld"`
	OldReads   direction    `json:"oldReadsNew"`
	Levels     []levelState `json:"levels"`
	Level      string       `json:"level"`
	Compatible bool         `json:"compatible"` // at the level
}

type side struct {
	Name string      `json:"name"`
	Type schema.Type `json:"schemaType"`
}

type direction struct {
	Possible bool     `json:"possible"`
	Changes  []change `json:"changes"`
}

type change struct {
	Kind        string `json:"kind"`
	Path        string `json:"path,omitempty"`
	Breaks      bool   `json:"breaks"`
	Description string `json:"description"`
	Info        string `json:"info,omitempty"`
}

type levelState struct {
	Level      string `json:"level"`
	Compatible bool   `json:"compatible"`
}

func diffSchemas(ctx context.Context, s *session, args []string) error {
	sources, parsed, err := s.oldAndNew(ctx, args)
	if err != nil {
		return err
	}
	level, policy, err := s.judgedBy(ctx, sources[0], sources[1])
	if err != nil {
		return err
	}
	result, err := compare(ctx, parsed[0], parsed[1], level, policy)
	if err != nil {
		return err
	}
	result.Old = side{sources[0].label, parsed[0].Type()}
	result.New = side{sources[1].label, parsed[1].Type()}
	if err := s.out.Value(result, result.text()); err != nil {
		return err
	}
	if !result.Compatible {
		return cli.Said()
	}
	return nil
}

// parseHint is what may be missing when a text can't be parsed.
func parseHint(src *source) string {
	if src.subject == "" && len(namesIn(src.schema.Type, src.schema.Text)) > len(src.schema.Dependencies) {
		return "it refers to other schemas: name them, or their folder, with --references"
	}
	return ""
}

// either reads a file or what is registered.
func (s *session) either(ctx context.Context, arg string) (*source, error) {
	if id, ok := strings.CutPrefix(arg, "id:"); ok {
		n, err := strconv.Atoi(id)
		if err != nil || n < 0 {
			return nil, cli.Unusable(fmt.Errorf("%s: want id:ID with a number", arg), "")
		}
		return s.readID(ctx, n)
	}
	if info, err := os.Stat(arg); arg != "-" && (err != nil || info.IsDir()) {
		if looksLikeFile(arg) {
			return nil, cli.Unusable(fmt.Errorf("there is no file %s", arg), "")
		}
		subject, version := splitVersion(arg)
		return s.readRegistered(ctx, subject, strings.ToLower(version))
	}
	given, _ := s.cmd.Flags().GetString("type")
	src, err := readFile(s.cmd.InOrStdin(), arg, given)
	if err != nil {
		return nil, err
	}
	refs, _ := s.cmd.Flags().GetStringArray("references")
	if err := s.addReferences(ctx, src, refs); err != nil {
		return nil, err
	}
	if len(src.references) > 0 {
		r, err := s.client.Resolve(ctx, "", string(src.schema.Type), src.schema.Text, src.references)
		if err != nil {
			return nil, err
		}
		src.schema.Dependencies = append(src.schema.Dependencies, r.Dependencies...)
	}
	return src, nil
}

// looksLikeFile reports whether an argument can hardly be a subject.
func looksLikeFile(arg string) bool {
	if strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || strings.HasPrefix(arg, "/") {
		return true
	}
	return slices.ContainsFunc(extensionTable(), func(r extensionRow) bool { return r.match(arg) })
}

// judgedBy returns the level and policy: flags, else those of the subject.
func (s *session) judgedBy(ctx context.Context, old, next *source) (evolution.Level, evolution.Policy, error) {
	f := s.cmd.Flags()
	level, _ := f.GetString("level")
	policy, _ := f.GetString("policy")
	subject := old.subject
	if subject == "" {
		subject = next.subject
	}
	if subject != "" && (level == "" || policy == "") {
		config, err := s.client.Config(ctx, subject, true)
		if err != nil {
			return 0, 0, err
		}
		if level == "" {
			level = config.CompatibilityLevel
		}
		if policy == "" {
			policy = config.CompatibilityPolicy
		}
	}
	l, p := evolution.Backward, evolution.Strict
	var ok bool
	if level != "" {
		if l, ok = evolution.ParseLevel(level); !ok {
			return 0, 0, cli.Unusable(fmt.Errorf("--level: %q is no compatibility level", level), "")
		}
	}
	if policy != "" {
		if p, ok = evolution.ParsePolicy(policy); !ok {
			return 0, 0, cli.Unusable(fmt.Errorf("--policy: %q is neither STRICT nor LENIENT", policy), "")
		}
	}
	return l, p, nil
}

func compare(ctx context.Context, old, next schema.Parsed, level evolution.Level, policy evolution.Policy) (*comparison, error) {
	checker, err := evolution.New(evolution.Options{})
	if err != nil {
		return nil, err
	}
	back, err := reads(ctx, checker, policy, next, old, "new", "old")
	if err != nil {
		return nil, err
	}
	fore, err := reads(ctx, checker, policy, old, next, "old", "new")
	if err != nil {
		return nil, err
	}
	c := &comparison{NewReads: back, OldReads: fore, Same: same(old, next), Level: level.String()}
	for l := evolution.None; l <= evolution.FullTransitive; l++ {
		result, err := checker.CheckPolicy(ctx, l, policy, next, []schema.Parsed{old})
		if err != nil {
			return nil, err
		}
		if l == level {
			c.Compatible = result.Compatible
		}
		if !l.Transitive() { // with one version to compare with, they are the same
			c.Levels = append(c.Levels, levelState{l.String(), result.Compatible})
		}
	}
	return c, nil
}

// same reports whether two schemas differ in nothing but spelling.
func same(a, b schema.Parsed) bool {
	if a.Type() != b.Type() {
		return false
	}
	return a.Canonical() == b.Canonical() || a.Normalized() != "" && a.Normalized() == b.Normalized()
}

func reads(ctx context.Context, c *evolution.Checker, policy evolution.Policy, reader, writer schema.Parsed, readerWord, writerWord string) (direction, error) {
	changes, err := c.Changes(ctx, policy, reader, writer, readerWord, writerWord)
	if err != nil {
		return direction{}, errors.Join(errors.New("the comparison was cut off"), err)
	}
	d := direction{Possible: true, Changes: []change{}}
	for _, ch := range changes {
		d.Possible = d.Possible && !ch.Breaks
		d.Changes = append(d.Changes, change{string(ch.Kind), ch.Path, ch.Breaks, ch.Description, ch.Info})
	}
	return d, nil
}

// text is the comparison for people.
func (c *comparison) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "old: %s, %s\nnew: %s, %s\n\n", c.Old.Name, c.Old.Type, c.New.Name, c.New.Type)
	if c.Same {
		b.WriteString("They are the same schema.\n\n")
	}
	c.NewReads.write(&b, "new reads data of old")
	c.OldReads.write(&b, "old reads data of new")
	b.WriteString("\n")
	for _, l := range c.Levels {
		verdict := "compatible"
		if !l.Compatible {
			verdict = "incompatible"
		}
		mark := ""
		if strings.TrimSuffix(c.Level, "_TRANSITIVE") == l.Level {
			mark = "  <- the level that counts"
		}
		fmt.Fprintf(&b, "%-8s  %s%s\n", l.Level, verdict, mark)
	}
	return b.String()
}

func (d *direction) write(b *strings.Builder, what string) {
	verdict := "yes"
	if !d.Possible {
		verdict = "no"
	}
	fmt.Fprintf(b, "%s: %s\n", what, verdict)
	for _, ch := range d.Changes {
		mark := "  ok    "
		if ch.Breaks {
			mark = "  BREAKS"
		}
		fmt.Fprintf(b, "%s  %s\n", mark, ch.Kind)
		fmt.Fprintf(b, "          %s\n", ch.Description)
		if ch.Info != "" && !strings.Contains(ch.Description, ch.Info) {
			fmt.Fprintf(b, "          %s\n", ch.Info)
		}
	}
}

// oldAndNew reads and parses the two schemas that the arguments name.
func (s *session) oldAndNew(ctx context.Context, args []string) (sources [2]*source, parsed [2]schema.Parsed, err error) {
	for i, arg := range args {
		if sources[i], err = s.either(ctx, arg); err != nil {
			return sources, parsed, err
		}
		if parsed[i], err = format.Parse(sources[i].schema); err != nil {
			err = fmt.Errorf("%s is no %s schema: %w", sources[i].label, sources[i].schema.Type, err)
			return sources, parsed, cli.Unusable(err, parseHint(sources[i]))
		}
	}
	return sources, parsed, nil
}
