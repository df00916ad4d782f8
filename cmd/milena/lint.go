package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"milena/cmd/internal/check"
)

func lintCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lint [PATH...]",
		Short: "Look for what is allowed in schemas and not wise",
		Long: "Look for what is allowed in schema files and not wise. With --registry or --against, also for\n" +
			"changes that compatibility levels let pass: of keys, and of reserved numbers.\n\n" + lintHelp() + "\n" +
			"milena.yaml may set other severities: lint: {DOC: warning, TYPE_NAME: off}.\n\n" +
			"Exit codes: 0, no errors; 1, there are errors; 2, it could not be checked.",
		Example: "  milena lint schemas\n  milena lint schemas --against git:origin/main --format github",
	}
	defineCheck(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withReport(cmd, args, false, check.Lint)
	}
	return cmd
}

// lintHelp is the table of rules as --help shows it.
func lintHelp() string {
	var b strings.Builder
	b.WriteString("Rules and their severities:\n")
	for _, r := range check.LintRules() {
		fmt.Fprintf(&b, "  %-24s  %-7s  %s\n", r.ID, r.Severity, r.Doc)
	}
	return b.String()
}
