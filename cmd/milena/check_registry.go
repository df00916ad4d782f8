package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"milena/cmd/internal/check"
	"milena/cmd/internal/cli"
	"milena/cmd/internal/config"
	"milena/registry/client"
	"milena/registry/errcode"
)

// registered is the history of a registry.
type registered struct{ s *session }

var _ check.History = (*registered)(nil)

// Versions returns versions of a subject that are not deleted.
func (r *registered) Versions(ctx context.Context, subject string, all bool) ([]check.Old, error) {
	names := []string{client.Latest}
	if all {
		versions, err := r.s.client.Versions(ctx, subject, client.VersionsQuery{})
		switch {
		case errors.Is(err, errcode.SubjectNotFound):
			return nil, nil
		case err != nil:
			return nil, err
		}
		names = nil
		for _, v := range versions {
			names = append(names, strconv.Itoa(v))
		}
	}
	var out []check.Old
	for _, name := range names {
		src, err := r.s.readRegistered(ctx, subject, name)
		switch {
		case errors.Is(err, errcode.SubjectNotFound) || errors.Is(err, errcode.VersionNotFound):
			continue // or was deleted meanwhile
		case err != nil:
			return nil, err
		}
		out = append(out, check.Old{Label: fmt.Sprintf("version %d", src.version), Schema: src.schema})
	}
	return out, nil
}

// Settings returns the settings that the registry would check with.
func (r *registered) Settings(ctx context.Context, subject string) (level, policy string, err error) {
	c, err := r.s.client.Config(ctx, subject, true)
	if err != nil {
		return "", "", err
	}
	return c.CompatibilityLevel, c.CompatibilityPolicy, nil
}

// sessionWith opens a session with settings that were read.
func sessionWith(cmd *cobra.Command, settings *config.Values, out *cli.Output, notes io.Writer) (*session, error) {
	o, err := clientOptions(settings)
	if err != nil {
		return nil, err
	}
	c, err := client.New(o)
	if err != nil {
		return nil, err
	}
	return &session{cmd: cmd, settings: settings, client: c.InContext(settings.String("registry-context")), out: out, notes: notes}, nil
}
