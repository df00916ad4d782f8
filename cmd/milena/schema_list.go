package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"milena/registry/api"
	"milena/registry/client"
	"milena/registry/errcode"
)

func listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [SUBJECT]",
		Short: "List subjects, or the versions of one",
		Long: "List subjects with their latest version, or the versions of one subject. Without --context, the\n" +
			"subjects of all contexts are listed.",
		Example: "  milena schema list\n" +
			"  milena schema list --prefix orders- --deleted\n" +
			"  milena schema list orders-value -o json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSubjectOnly,
	}
	f := cmd.Flags()
	f.String("prefix", "", "subjects whose names begin so")
	f.Bool("deleted", false, "soft deleted ones too")
	f.Bool("names", false, "names only, which is quicker")
	cmd.RunE = withSession(list)
	return cmd
}

func list(ctx context.Context, s *session, args []string) error {
	f := s.cmd.Flags()
	deleted, _ := f.GetBool("deleted")
	prefix, _ := f.GetString("prefix")
	names, _ := f.GetBool("names")
	switch {
	case len(args) == 1:
		return s.listVersions(ctx, args[0], deleted)
	case names:
		return s.listNames(ctx, prefix, deleted)
	}
	return s.listLatest(ctx, prefix, deleted)
}

// everywhere turns a prefix of names into one of all contexts, if no context is
// asked for.
func (s *session) everywhere(prefix string) string {
	if s.settings.String("registry-context") == "" && (prefix == "" || prefix[0] != ':') {
		return ":*:" + prefix
	}
	return prefix
}

func (s *session) listNames(ctx context.Context, prefix string, deleted bool) error {
	q := client.SubjectsQuery{Deleted: deleted}
	if prefix = s.everywhere(prefix); prefix != "" {
		q.Prefix = &prefix
	}
	subjects, err := s.client.Subjects(ctx, q)
	if err != nil {
		return err
	}
	table := s.out.Table("SUBJECT")
	for _, name := range subjects {
		if err := table.Row(name, name); err != nil {
			return err
		}
	}
	return table.Close("no subjects")
}

// listPage is how many versions are asked for at once: what registries give at
// most.
const listPage = 1_000

func (s *session) listLatest(ctx context.Context, prefix string, deleted bool) error {
	table := s.out.Table("SUBJECT", "VERSION", "ID", "TYPE", "DELETED")
	for offset := 0; ; {
		page, err := s.client.Schemas(ctx, client.SchemasQuery{
			Prefix: s.everywhere(prefix), Deleted: deleted, LatestOnly: true, Page: client.Page{Offset: offset, Limit: listPage},
		})
		if err != nil {
			return err
		}
		for _, v := range page {
			if err := table.Row(v, v.Subject, strconv.Itoa(v.Version), strconv.Itoa(v.ID), typeOf(v.SchemaType), deletedMark(v.Deleted)); err != nil {
				return err
			}
		}
		offset += len(page)
		if len(page) < listPage {
			return table.Close("no subjects")
		}
	}
}

// typeOf is the format, which older registries leave out for Avro.
func typeOf(text string) string {
	if text == "" {
		return "AVRO"
	}
	return text
}

func deletedMark(deleted *bool) string {
	if deleted != nil && *deleted {
		return "deleted"
	}
	return ""
}

func (s *session) listVersions(ctx context.Context, subject string, deleted bool) error {
	versions, err := s.client.Versions(ctx, subject, client.VersionsQuery{Deleted: deleted})
	if err != nil {
		return err
	}
	table := s.out.Table("VERSION", "ID", "TYPE", "REGISTERED", "REFERENCES", "DELETED")
	for _, n := range versions {
		v, err := s.client.Version(ctx, subject, strconv.Itoa(n), client.VersionQuery{Deleted: deleted})
		if gone(err) {
			continue // deleted since
		}
		if err != nil {
			return err
		}
		err = table.Row(v, strconv.Itoa(v.Version), strconv.Itoa(v.ID), typeOf(v.SchemaType), when(v.Timestamp), references(v.References), deletedMark(v.Deleted))
		if err != nil {
			return err
		}
	}
	return table.Close("no versions")
}

func gone(err error) bool { return errcode.Of(err) != nil && errcode.Of(err).Row.Status == 404 }

func when(millis *int64) string {
	if millis == nil {
		return "-"
	}
	return time.UnixMilli(*millis).UTC().Format(time.DateTime)
}

func references(refs []api.Reference) string {
	if len(refs) == 0 {
		return "-"
	}
	text := fmt.Sprintf("%s=%s:%d", refs[0].Name, refs[0].Subject, refs[0].Version)
	if len(refs) > 1 {
		text += fmt.Sprintf(" and %d more", len(refs)-1)
	}
	return text
}
