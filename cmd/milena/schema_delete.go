package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func deleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete SUBJECT[@VERSION]",
		Short: "Delete a subject or one of its versions",
		Long: "Delete a subject or one of its versions. What is deleted can be read still, by id and with\n" +
			"--deleted; deleting it again with --permanent removes it for good.",
		Example: "  milena schema delete orders-value@2\n" +
			"  milena schema delete orders-value\n" +
			"  milena schema delete orders-value --permanent",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeSubjectOnly,
	}
	cmd.Flags().Bool("permanent", false, "remove for good what is deleted already")
	cmd.RunE = withSession(deleteSchema)
	return cmd
}

func deleteSchema(ctx context.Context, s *session, args []string) error {
	permanent, _ := s.cmd.Flags().GetBool("permanent")
	subject, version := splitVersion(args[0])
	var versions []int
	if subject == args[0] {
		list, err := s.client.DeleteSubject(ctx, subject, permanent)
		if err != nil {
			return err
		}
		versions = list
	} else {
		one, err := s.client.DeleteVersion(ctx, subject, strings.ToLower(version), permanent)
		if err != nil {
			return err
		}
		versions = []int{one}
	}
	texts := make([]string, len(versions))
	for i, v := range versions {
		texts[i] = strconv.Itoa(v)
	}
	how := "deleted"
	if permanent {
		how = "removed for good"
	}
	return s.out.Value(deletion{subject, versions, permanent}, subject+": "+how+": "+plural(len(versions), "version")+" "+strings.Join(texts, ", "))
}

// deletion is what was deleted, for programs.
type deletion struct {
	Subject   string `json:"subject"`
	Versions  []int  `json:"versions"`
	Permanent bool   `json:"permanent"`
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
