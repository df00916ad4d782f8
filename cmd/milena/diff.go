package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/cmd/internal/config"
	"milena/evolution"
)

func guideCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Explain what changes from one schema to another and how to roll it out",
		Long: "Explain what changes from one schema to another: each change with its place, whether it breaks\n" +
			"readers and why, a change that would not, the verdict for each level, and which side to upgrade\n" +
			"first. OLD and NEW are files, SUBJECT, SUBJECT@VERSION or id:ID. milena schema diff gives the same\n" +
			"verdict in short.\n\n" +
			"The exit code is 0 if NEW may follow OLD at the level, else 1.",
		Example:           "  milena diff old.avsc new.avsc\n  milena diff orders-value order.avsc --level FULL",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeSubjectOrFile,
	}
	f := cmd.Flags()
	config.Define(f, config.Client)
	f.StringP("output", "o", "text", "text for people or json for programs")
	f.String("type", "", "format of schema files: avro, json or protobuf; default is told from the file")
	f.StringArray("references", nil, "for schema files: `NAME=SUBJECT:VERSION`, or a folder; may be repeated")
	f.String("level", "", "compatibility level that the exit code tells of")
	f.String("policy", "", "STRICT or LENIENT; default is the subject's, else STRICT")
	completeFlag(cmd, "level", "NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE", "FULL_TRANSITIVE")
	completeFlag(cmd, "policy", "STRICT", "LENIENT")
	completeFlag(cmd, "type", "avro", "json", "protobuf")
	cmd.RunE = withSession(guide)
	return cmd
}

// guidance is the result, for programs.
type guidance struct {
	Old        side            `json:"old"`
	New        side            `json:"new"`
	Changes    []guidedChange  `json:"changes"`
	Levels     map[string]bool `json:"levels"` // those that are not transitive
	Level      string          `json:"level"`
	Compatible bool            `json:"compatible"` // at the level
	Rollout    string          `json:"rollout"`
}

// guidedChange is one change as one of the two sides sees it.
type guidedChange struct {
	Rule    string `json:"rule"`
	Reader  string `json:"reader"` // new or old
	Path    string `json:"path,omitempty"`
	Name    string `json:"name,omitempty"`
	Breaks  bool   `json:"breaks"`
	OldAt   string `json:"oldAt,omitempty"`
	Old     string `json:"old,omitempty"`
	NewAt   string `json:"newAt,omitempty"`
	New     string `json:"new,omitempty"`
	Why     string `json:"why"`
	Fix     string `json:"fix,omitempty"`
	Message string `json:"message"`
}

func guide(ctx context.Context, s *session, args []string) error {
	sources, parsed, err := s.oldAndNew(ctx, args)
	if err != nil {
		return err
	}
	level, policy, err := s.judgedBy(ctx, sources[0], sources[1])
	if err != nil {
		return err
	}
	g := guidance{
		Old: side{sources[0].label, parsed[0].Type()}, New: side{sources[1].label, parsed[1].Type()},
		Changes: []guidedChange{}, Level: level.String(),
	}
	old := evolution.Text{Schema: parsed[0], Text: sources[0].schema.Text}
	next := evolution.Text{Schema: parsed[1], Text: sources[1].schema.Text}
	if err := g.fill(ctx, level, policy, next, old); err != nil {
		return err
	}
	if err := s.out.Value(g, g.text()); err != nil {
		return err
	}
	if !g.Compatible {
		return cli.Said()
	}
	return nil
}

// fill compares in both directions and judges.
func (g *guidance) fill(ctx context.Context, level evolution.Level, policy evolution.Policy, next, old evolution.Text) error {
	checker, err := evolution.New(evolution.Options{})
	if err != nil {
		return err
	}
	reads := [2]bool{true, true} // the new schema data of the old one, and the other way round
	for i, forward := range []bool{false, true} {
		all, err := checker.Differences(ctx, policy, next, old, forward)
		if err != nil {
			return err
		}
		for _, d := range all {
			reads[i] = reads[i] && !d.Breaks
			// Harmless changes are the same from both sides: one is enough.
			if forward && !d.Breaks {
				continue
			}
			g.Changes = append(g.Changes, guided(d, g.Old.Name, g.New.Name))
		}
	}
	// A harmless change is not told if it breaks the other side.
	g.Changes = slices.DeleteFunc(g.Changes, func(c guidedChange) bool {
		return !c.Breaks && slices.ContainsFunc(g.Changes, func(o guidedChange) bool { return o.Breaks && o.Path == c.Path })
	})
	g.Levels = map[string]bool{"NONE": true, "BACKWARD": reads[0], "FORWARD": reads[1], "FULL": reads[0] && reads[1]}
	g.Compatible = g.Levels[strings.TrimSuffix(level.String(), "_TRANSITIVE")]
	g.Rollout = rollout(reads[0], reads[1])
	return nil
}

func guided(d evolution.Difference, oldName, newName string) guidedChange {
	c := guidedChange{
		Rule: d.Rule, Reader: "new", Path: d.Path, Name: d.Name, Breaks: d.Breaks, Why: d.Why, Fix: d.Fix,
		Old: d.Old.Value, New: d.New.Value, Message: d.Message,
	}
	if d.Forward {
		c.Reader = "old"
	}
	if d.Old.Exact && d.Old.Line > 0 {
		c.OldAt = fmt.Sprintf("%s:%d:%d", oldName, d.Old.Line, d.Old.Column)
	}
	if d.New.Exact && d.New.Line > 0 {
		c.NewAt = fmt.Sprintf("%s:%d:%d", newName, d.New.Line, d.New.Column)
	}
	return c
}

// rollout says which side to upgrade first.
func rollout(newReads, oldReads bool) string {
	switch {
	case newReads && oldReads:
		return "in any order: consumers with either schema read data of both"
	case newReads:
		return "consumers first: they read old and new data with the new schema; then producers. Consumers must not go back to the old schema once there is new data"
	case oldReads:
		return "producers first: consumers with the old schema read new data; consumers only when no old data is left to read (retention has passed, or topics were rewritten)"
	default:
		return "no order works: neither side reads the other's data. Split the change into steps that are compatible, or use a new topic and move consumers when the old one is read to its end"
	}
}

// text is the result for people.
func (g *guidance) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s -> %s\n", g.Old.Name, g.New.Name)
	if len(g.Changes) == 0 {
		b.WriteString("\nnothing changes for who reads or writes data\n")
	}
	for _, c := range g.Changes {
		word := "ok    "
		if c.Breaks {
			word = "BREAKS"
		}
		name := c.Name
		if name == "" {
			name = c.Path
		}
		fmt.Fprintf(&b, "\n%s  %s %s\n", word, c.Rule, name)
		for _, line := range [][3]string{{"old", c.OldAt, c.Old}, {"new", c.NewAt, c.New}} {
			if line[1] != "" {
				fmt.Fprintf(&b, "        %s   %s  %s\n", line[0], line[1], line[2])
			}
		}
		if c.Breaks {
			fmt.Fprintf(&b, "        who   readers with the %s schema\n", c.Reader)
		}
		fmt.Fprintf(&b, "        why   %s\n", c.Why)
		if c.Fix != "" {
			fmt.Fprintf(&b, "        fix   %s\n", c.Fix)
		}
	}
	b.WriteString("\n")
	for _, level := range []string{"BACKWARD", "FORWARD", "FULL"} {
		verdict := "no"
		if g.Levels[level] {
			verdict = "yes"
		}
		fmt.Fprintf(&b, "%-8s  %s\n", level, verdict)
	}
	fmt.Fprintf(&b, "\nrollout: %s\n", g.Rollout)
	return b.String()
}
