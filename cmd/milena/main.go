// Command milena is the registry, the gateway and the broker in one binary.
package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
)

// version is set by the linker.
var version = "dev"

// errStopped says that a process was cut off while it drained.
var errStopped = errors.New("stopped before everything was drained")

func main() {
	err := command().Execute()
	cli.Print(os.Stderr, "milena", err)
	if errors.Is(err, errStopped) {
		os.Exit(cli.No)
	}
	os.Exit(cli.ExitCode(err))
}

// command is the tree of commands; each has a file of its own.
func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "milena",
		Short:         "Schema registry, schema-aware Kafka gateway and broker in one process",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(serveCommand(), schemaCommand(), checkCommand(), guideCommand(), lintCommand(), versionCommand())
	return root
}
