// Command milena is the registry, the gateway and the broker in one binary.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

// exitUsage is the exit code for what the caller can mend: flags, addresses,
// directories.
const exitUsage = 2

// errStopped says that a process was cut off while it drained.
var errStopped = errors.New("stopped before everything was drained")

func main() {
	root := command()
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "milena: "+oneLine(err))
		if errors.Is(err, errStopped) {
			os.Exit(1)
		}
		os.Exit(exitUsage)
	}
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
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(serveCommand(), versionCommand())
	return root
}

// oneLine puts joined errors on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
