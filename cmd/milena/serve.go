package main

import (
	"context"
	"errors"
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
	config.Define(cmd.Flags(), config.Serve)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		settings, err := config.Load(cmd.Flags(), os.Environ(), config.Serve)
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
	n, err := start(drain, force, settings, log)
	if err != nil || n == nil {
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

// start starts the parts. It returns neither a node nor an error if a signal
// stopped it before they were up.
func start(drain, force context.Context, settings *config.Values, log *slog.Logger) (*node.Node, error) {
	type outcome struct {
		node *node.Node
		err  error
	}
	ended := make(chan outcome, 1)
	go func() {
		n, err := node.Start(drain, settings, node.Options{Version: version, Log: log, Out: os.Stdout})
		ended <- outcome{n, err}
	}()
	select {
	case o := <-ended:
		if errors.Is(o.err, context.Canceled) && drain.Err() != nil {
			log.Info("stopped while starting")
			return nil, nil
		}
		return o.node, o.err
	case <-force.Done():
		return nil, fmt.Errorf("%w: %w", errStopped, context.Cause(force))
	}
}
