package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"milena/cmd/internal/config"
	"milena/cmd/internal/node"
	"milena/cmd/internal/obs"
	"milena/cmd/internal/run"
)

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the registry, the gateway and the broker, or some of them",
		Long: "Run the registry, the gateway and the broker, or the roles named by --roles.\n\n" +
			"Every flag is also a MILENA_ variable and a key of the file named by --config.\n" +
			"A flag wins over a variable, a variable over the file.\n\n" +
			"SIGTERM or an interrupt drains; a second one stops at once.",
		Example: "  milena serve                                 # everything, data in ./milena-data\n" +
			"  milena serve --dev                           # everything, nothing kept\n" +
			"  milena serve --roles gateway --registry-url http://registry:8081 --broker broker:9094",
		Args: cobra.NoArgs,
	}
	config.Define(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		settings, err := config.Load(cmd.Flags(), os.Environ())
		if err != nil {
			return err
		}
		return serve(cmd.Context(), settings)
	}
	return cmd
}

// serve runs until a signal, then drains.
func serve(ctx context.Context, settings *config.Values) error {
	began := time.Now()
	log := obs.NewLogger(os.Stderr, settings.String("log-level"), settings.String("log-format"))
	drain, force, release := run.Signals(ctx)
	defer release()
	n, err := node.Start(drain, settings, node.Options{Version: version, Log: log, Out: os.Stdout})
	if err != nil {
		return err
	}
	fmt.Printf("ready     after %d ms\n", time.Since(began).Milliseconds())
	<-drain.Done()
	limit := settings.Duration("shutdown-timeout")
	log.Info("stopping: requests under way have time to end; a second signal stops at once", slog.Duration("limit", limit))
	deadline, cancel := context.WithTimeout(force, limit)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- n.Stop(deadline) }()
	select {
	case err = <-stopped:
	case <-force.Done():
		// At once: whatever is acknowledged is durable already.
		err = context.Cause(force)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errStopped, err)
	}
	return nil
}
