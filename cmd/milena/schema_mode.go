package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/registry/api"
	"milena/registry/errcode"
)

func modeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mode [SUBJECT]",
		Short: "Show or change the mode of a subject or of the registry",
		Long: "Show or change the mode of a subject, or without one that of the context or the registry:\n" +
			"READWRITE, READONLY, READONLY_OVERRIDE, IMPORT (schemas are registered with their ids) or FORWARD.",
		Example: "  milena schema mode orders-value\n" +
			"  milena schema mode orders-value --set READONLY\n" +
			"  milena schema mode --set IMPORT\n" +
			"  milena schema mode orders-value --delete",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSubjectOnly,
	}
	f := cmd.Flags()
	f.String("set", "", "mode to set")
	f.Bool("force", false, "set IMPORT although there are schemas")
	f.Bool("delete", false, "remove the mode, so that the one above counts")
	f.Bool("recursive", false, "with --delete: also the modes of the context's subjects")
	completeFlag(cmd, "set", "READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")
	cmd.MarkFlagsMutuallyExclusive("set", "delete")
	cmd.RunE = withSession(setMode)
	return cmd
}

// inheritedMode is a mode for programs, which must know whose it is.
type inheritedMode struct {
	api.Mode
	Inherited bool `json:"inherited"`
}

func setMode(ctx context.Context, s *session, args []string) error {
	f := s.cmd.Flags()
	subject := argument(args)
	mode, _ := f.GetString("set")
	force, _ := f.GetBool("force")
	recursive, _ := f.GetBool("recursive")
	remove, _ := f.GetBool("delete")
	switch {
	case remove:
		old, err := s.client.DeleteMode(ctx, subject, recursive)
		if errors.Is(err, errcode.SubjectNotFound) {
			return cli.Refused(fmt.Errorf("%s has no mode of its own", subject), "")
		}
		if err != nil {
			return err
		}
		return s.out.Value(old, "deleted: "+old.Mode)
	case f.Changed("set"):
		set, err := s.client.SetMode(ctx, subject, strings.ToUpper(mode), force)
		if err != nil {
			return err
		}
		return s.out.Value(set, set.Mode)
	}
	v, err := s.client.Mode(ctx, subject, false)
	inherited := errors.Is(err, errcode.ModeNotSet)
	if inherited {
		v, err = s.client.Mode(ctx, subject, true)
	}
	if err != nil {
		return err
	}
	text := v.Mode
	if inherited {
		text += " (inherited: it has no mode of its own)"
	}
	return s.out.Value(inheritedMode{v, inherited}, text)
}
