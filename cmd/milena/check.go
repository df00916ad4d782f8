package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"milena/cmd/internal/check"
	"milena/cmd/internal/cli"
	"milena/cmd/internal/config"
	"milena/cmd/internal/findings"
	"milena/serde/schema"
)

func checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [PATH...]",
		Short: "Check schema files against what is in use, as a step of CI",
		Long: "Check schema files, or all of folders, against a registry (--registry), against revisions of git\n" +
			"(--against git:REF) or against older files (--old FILE): may each follow what is in use? Each finding\n" +
			"comes with its place, why it breaks readers, and a change that would be compatible.\n\n" +
			"The subject of a file is its path without extension, unless --subject or milena.yaml say otherwise.\n" +
			"References are looked for in the folder. The level is --level, else that of milena.yaml for the file,\n" +
			"of the registry for the subject, of milena.yaml for all, else BACKWARD.\n\n" +
			"Exit codes: 0, all are compatible; 1, there are findings; 2, it could not be checked.",
		Example: "  milena check schemas --against git:origin/main\n" +
			"  milena check schemas --registry https://registry.example.com --format github\n" +
			"  milena check order.avsc --old order-v1.avsc --old order-v2.avsc --level FULL_TRANSITIVE\n" +
			"  milena check schemas --against git:main --subject '{topic}/value.avsc={topic}-value' --report sarif=check.sarif",
	}
	defineCheck(cmd)
	f := cmd.Flags()
	f.StringArray("old", nil, "older version of the one PATH; may be repeated, oldest first")
	f.String("level", "", "compatibility level")
	f.String("policy", "", "STRICT or LENIENT")
	completeFlag(cmd, "level", "NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE", "FULL_TRANSITIVE")
	completeFlag(cmd, "policy", "STRICT", "LENIENT")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withReport(cmd, args, true, check.Run)
	}
	return cmd
}

// defineCheck adds the flags that check and lint share.
func defineCheck(cmd *cobra.Command) {
	f := cmd.Flags()
	config.Define(f, config.Client)
	f.StringArray("against", nil, "`git:REF` to compare with; may be repeated, oldest first")
	f.StringArray("subject", nil, "`PATTERN=SUBJECT` of files; * is anything but a slash, ** anything, {name} a part to use in SUBJECT")
	f.String("project", "", "settings of the schemas; default is milena.yaml in the folder or here, if there is one")
	f.String("format", "text", "form of the result: "+strings.Join(findings.Forms(), ", "))
	f.StringArray("report", nil, "`FORM=FILE` to write the result to as well")
	completeFlag(cmd, "format", findings.Forms()...)
}

// withReport reads what is to be checked, runs a check and writes its report.
// Must says that there has to be something to compare with.
func withReport(cmd *cobra.Command, args []string, must bool, run func(context.Context, check.Options) (*findings.Report, error)) error {
	ctx, release := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer release()
	form, _ := cmd.Flags().GetString("format")
	reports, _ := cmd.Flags().GetStringArray("report")
	if err := findings.Known(form); err != nil {
		return err
	}
	for _, r := range reports {
		if form, file, ok := strings.Cut(r, "="); !ok || file == "" || findings.Known(form) != nil {
			return fmt.Errorf("--report: %q: want FORM=FILE, FORM one of %s", r, strings.Join(findings.Forms(), ", "))
		}
	}
	t, err := readTarget(cmd, args)
	if err != nil {
		return err
	}
	against, err := t.history(ctx, must)
	if err != nil {
		return err
	}
	defer against.close()
	report, err := run(ctx, t.options)
	if err != nil {
		if against.session != nil {
			return against.session.explain(err)
		}
		return err
	}
	t.notes(report)
	for _, r := range reports {
		form, file, _ := strings.Cut(r, "=")
		if err := writeReport(file, form, report); err != nil {
			return err
		}
	}
	if err := findings.Write(cmd.OutOrStdout(), form, report); err != nil {
		return err
	}
	if report.Failed() {
		return cli.Said()
	}
	return nil
}

func writeReport(file, form string, report *findings.Report) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	if err := errors.Join(findings.Write(f, form, report), f.Close()); err != nil {
		return fmt.Errorf("--report %s: %w", file, err)
	}
	return nil
}

// target is what is to be checked.
type target struct {
	cmd     *cobra.Command
	root    string
	options check.Options
	trees   *check.Trees // the history, if it is of git
}

// schemaReading is what package main knows of texts.
func schemaReading() check.Reading {
	return check.Reading{
		Tell: func(name, text string) (schema.Type, error) {
			format, files, err := tellType(name, []byte(text))
			if files {
				return "", fmt.Errorf("%s is a set of descriptors; check the .proto files", name)
			}
			return format, err
		},
		Names: namesIn,
		Defines: func(format schema.Type, text string) []string {
			switch format {
			case schema.Avro:
				return slices.Sorted(maps.Keys(avroTypesIn(text).defined))
			case schema.JSON:
				if id := jsonID(text); id != "" {
					return []string{id}
				}
			}
			return nil
		},
	}
}

// readTarget reads files and settings. One folder is the root of all names;
// otherwise that is the current one.
func readTarget(cmd *cobra.Command, args []string) (*target, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	t := &target{cmd: cmd, root: "."}
	whole := false
	if info, err := os.Stat(args[0]); len(args) == 1 && err == nil && info.IsDir() {
		t.root, whole = args[0], true
	}
	f := cmd.Flags()
	file, _ := f.GetString("project")
	must := file != ""
	if file == "" {
		file = filepath.Join(t.root, check.ProjectFile)
		if _, err := os.Stat(file); err != nil {
			file = check.ProjectFile
		}
	}
	project, err := check.LoadProject(file, must)
	if err != nil {
		return nil, fmt.Errorf("--project: %w", err)
	}
	patterns, _ := f.GetStringArray("subject")
	var rules []check.SubjectRule
	for _, p := range patterns {
		rule, err := check.ParseSubjectRule(p)
		if err != nil {
			return nil, fmt.Errorf("--subject: %w", err)
		}
		rules = append(rules, rule)
	}
	project.Subjects = append(rules, project.Subjects...)
	if err := project.Prepare(); err != nil {
		return nil, fmt.Errorf("--subject: %w", err)
	}
	tree, err := check.Folder(t.root)
	if err != nil {
		return nil, err
	}
	t.options = check.Options{Project: project, Reading: schemaReading(), New: tree, Today: time.Now().UTC()}
	if f.Lookup("level") != nil {
		t.options.Level, _ = f.GetString("level")
		t.options.Policy, _ = f.GetString("policy")
		if err := (&check.Project{Level: t.options.Level, Policy: t.options.Policy}).Prepare(); err != nil {
			return nil, err
		}
	}
	if whole {
		if clean := filepath.ToSlash(filepath.Clean(t.root)); clean != "." {
			t.options.Prefix = clean + "/"
		}
		return t, nil
	}
	t.options.Only, err = chosen(tree, args)
	return t, err
}

// chosen returns the files of a tree that arguments name, those below folders
// included. A file outside of the tree is read into it.
func chosen(tree *check.Tree, args []string) ([]string, error) {
	var only []string
	for _, arg := range args {
		name := filepath.ToSlash(filepath.Clean(arg))
		if info, err := os.Stat(arg); err != nil {
			return nil, err
		} else if info.IsDir() {
			for _, file := range tree.Names() {
				if strings.HasPrefix(file, name+"/") || name == "." {
					only = append(only, file)
				}
			}
			continue
		}
		if _, ok := tree.Files[name]; !ok {
			text, err := readText(nil, arg)
			if err != nil {
				return nil, err
			}
			tree.Files[name] = string(text)
		}
		only = append(only, name)
	}
	return only, nil
}

// against is what is compared with, and what has to be closed.
type against struct{ session *session }

func (a *against) close() {
	if a.session != nil {
		_ = a.session.client.Close() // idle connections only
	}
}

// history opens what is compared with.
func (t *target) history(ctx context.Context, must bool) (*against, error) {
	f := t.cmd.Flags()
	revisions, _ := f.GetStringArray("against")
	var olds []string
	if f.Lookup("old") != nil {
		olds, _ = f.GetStringArray("old")
	}
	ways := 0
	registry := f.Changed("registry")
	for _, given := range []bool{len(revisions) > 0, len(olds) > 0, registry} {
		if given {
			ways++
		}
	}
	if ways == 0 && os.Getenv("MILENA_REGISTRY_URL") != "" {
		registry, ways = true, 1
	}
	switch {
	case ways > 1 || ways == 0 && must:
		return nil, cli.Unusable(errors.New("want one of --registry URL, --against git:REF and --old FILE"), "milena check --help shows examples")
	case len(olds) > 0:
		return &against{}, t.oldFiles(olds)
	case len(revisions) > 0:
		return &against{}, t.revisions(ctx, revisions)
	case !registry:
		return &against{}, nil
	}
	s, err := openSession(t.cmd)
	if err != nil {
		return nil, err
	}
	t.options.History, t.options.Against = &registered{s: s}, s.registry()
	return &against{s}, nil
}

func (t *target) oldFiles(olds []string) error {
	if len(t.options.Only) != 1 {
		return cli.Unusable(errors.New("--old: it needs exactly one PATH, a file"), "")
	}
	name := t.options.Only[0]
	format, err := t.options.Reading.Tell(name, t.options.New.Files[name])
	if err != nil {
		return err
	}
	var fixed check.Fixed
	for _, file := range olds {
		tree, err := check.Folder(filepath.Dir(file))
		if err != nil {
			return fmt.Errorf("--old: %w", err)
		}
		tree.Label = path.Clean(filepath.ToSlash(filepath.Dir(file)))
		base := filepath.Base(file)
		if _, ok := tree.Files[base]; !ok {
			text, err := readText(nil, file)
			if err != nil {
				return fmt.Errorf("--old: %w", err)
			}
			tree.Files[base] = string(text)
		}
		old, err := check.OldFile(tree, t.options.Reading, base, format)
		if err != nil {
			return fmt.Errorf("--old: %w", err)
		}
		fixed = append(fixed, old)
	}
	t.options.History, t.options.Against = fixed, strings.Join(olds, ", ")
	return nil
}

func (t *target) revisions(ctx context.Context, revisions []string) error {
	var trees []*check.Tree
	for _, r := range revisions {
		revision, ok := strings.CutPrefix(r, "git:")
		if !ok {
			return cli.Unusable(fmt.Errorf("--against: %q: want git:REF", r), "such as git:origin/main")
		}
		tree, err := check.Git(ctx, t.root, revision)
		if err != nil {
			return cli.Unusable(fmt.Errorf("--against: %w", err), "in CI, fetch the revision first (actions/checkout: fetch-depth: 0)")
		}
		trees = append(trees, tree)
	}
	h, err := check.NewTrees(t.options.Project, t.options.Reading, trees)
	if err != nil {
		return err
	}
	t.trees, t.options.History, t.options.Against = h, h, strings.Join(revisions, ", ")
	return nil
}

// notes adds remarks about what is no longer there.
func (t *target) notes(report *findings.Report) {
	if t.trees == nil || t.options.Only != nil {
		return
	}
	names := map[string]bool{}
	for _, s := range report.Subjects {
		names[s.Name] = true
	}
	for _, subject := range t.trees.Gone(names) {
		report.Notes = append(report.Notes, "the schema of "+subject+" was removed")
	}
}

// openSession opens a session for a command without --output.
func openSession(cmd *cobra.Command) (*session, error) {
	settings, err := config.Load(cmd.Flags(), os.Environ(), config.Client)
	if err != nil {
		return nil, err
	}
	return sessionWith(cmd, settings, &cli.Output{W: cmd.OutOrStdout()}, io.Writer(cmd.ErrOrStderr()))
}
