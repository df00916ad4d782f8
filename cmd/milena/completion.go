package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"milena/registry/client"
)

const (
	// completionTimeout is how long a shell waits for subjects.
	completionTimeout = 700 * time.Millisecond
	// completionsMax bounds what a shell is given to choose from.
	completionsMax = 1_000
)

// completeFlag gives a flag fixed values to choose from.
func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	// It fails for flags that are not there, which the tests would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeSubjectOnly completes one argument with subjects.
func completeSubjectOnly(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return subjectsLike(cmd, begun), cobra.ShellCompDirectiveNoFileComp
}

// completeSubjectThenFile completes the first argument with subjects and the
// second with files.
func completeSubjectThenFile(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return subjectsLike(cmd, begun), cobra.ShellCompDirectiveNoFileComp
	case 1:
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeSubjectOrFile completes two arguments with subjects, or with files if
// no subject begins so.
func completeSubjectOrFile(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return subjectsLike(cmd, begun), cobra.ShellCompDirectiveDefault
}

// subjectsLike asks the registry for subjects, for a moment only: a shell that
// hangs is worse than one that completes nothing.
func subjectsLike(cmd *cobra.Command, begun string) []string {
	s, err := newSession(cmd)
	if err != nil {
		return nil
	}
	defer func() { _ = s.client.Close() }() // idle connections only
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, completionTimeout)
	defer cancel()
	prefix := s.everywhere("")
	if !strings.HasPrefix(begun, ":") && prefix != "" {
		prefix += begun
	} else if begun != "" {
		prefix = begun
	}
	q := client.SubjectsQuery{Page: client.Page{Limit: completionsMax}}
	if prefix != "" {
		q.Prefix = &prefix
	}
	subjects, err := s.client.Subjects(ctx, q)
	if err != nil {
		return nil
	}
	in := ""
	if name := s.settings.String("registry-context"); name != "" && !strings.HasPrefix(begun, ":") {
		in = ":." + strings.TrimPrefix(strings.Trim(name, ":"), ".") + ":"
	}
	var out []string
	for _, name := range subjects {
		// A registry may know no prefixes, and names of a context have it in front.
		if name = strings.TrimPrefix(name, in); strings.HasPrefix(name, begun) && len(out) < completionsMax {
			out = append(out, name)
		}
	}
	return out
}
