package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/cmd/internal/config"
	"milena/registry/client"
	"milena/registry/errcode"
	"milena/serde/schema"
)

func schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Work with the schemas of a registry",
		Long: "Work with the schemas of a registry: Milena's or any other that speaks Confluent's API.\n\n" +
			"The registry is http://localhost:8081 unless --registry, the variable MILENA_REGISTRY_URL\n" +
			"or the file named by --config says otherwise. User and password may stand in the URL or in\n" +
			"MILENA_REGISTRY_USER and MILENA_REGISTRY_PASSWORD, a bearer token in MILENA_REGISTRY_TOKEN.\n\n" +
			"SUBJECT@VERSION names a version of a subject; a subject whose own name ends so is written with\n" +
			"@latest behind it. A subject in a context is :.context:name, or name with --context.\n\n" +
			typeHelp() + "\n" +
			"Exit codes: 0, done; 1, the answer is no (refused, not found, incompatible); 2, it could not\n" +
			"be asked (flags, files, no connection).",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	config.Define(cmd.PersistentFlags(), config.Client)
	cmd.PersistentFlags().StringP("output", "o", "text", "text for people or json for programs")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(
		registerCommand(), getCommand(), listCommand(), deleteCommand(), diffCommand(),
		exportCommand(), importCommand(), configCommand(), modeCommand(),
	)
	return cmd
}

// session is one run of a command that talks to a registry.
type session struct {
	cmd      *cobra.Command
	settings *config.Values
	client   *client.Client
	out      *cli.Output
	notes    io.Writer // for what is no result: progress and remarks
}

// withSession returns what cobra runs for a command: it opens a session, runs
// and says what to do about errors.
func withSession(run func(context.Context, *session, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := newSession(cmd)
		if err != nil {
			return err
		}
		defer func() { _ = s.client.Close() }() // idle connections only
		// A second signal is not caught and ends the process at once.
		ctx, release := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer release()
		context.AfterFunc(ctx, release)
		return s.explain(run(ctx, s, args))
	}
}

func newSession(cmd *cobra.Command) (*session, error) {
	settings, err := config.Load(cmd.Flags(), os.Environ(), config.Client)
	if err != nil {
		return nil, err
	}
	format, err := cmd.Flags().GetString("output")
	if err != nil {
		return nil, err
	}
	isJSON, err := cli.ParseFormat(format)
	if err != nil {
		return nil, err
	}
	o, err := clientOptions(settings)
	if err != nil {
		return nil, err
	}
	c, err := client.New(o)
	if err != nil {
		return nil, err
	}
	return &session{
		cmd: cmd, settings: settings, client: c.InContext(settings.String("registry-context")),
		out: &cli.Output{W: cmd.OutOrStdout(), JSON: isJSON}, notes: cmd.ErrOrStderr(),
	}, nil
}

func clientOptions(settings *config.Values) (client.Options, error) {
	o := client.Options{
		URL: settings.String("registry-url"), RequestTimeout: settings.Duration("registry-timeout"),
		AttemptTimeout: settings.Duration("registry-timeout"),
		User:           settings.String("registry-user"), Password: settings.String("registry-password"),
	}
	if token := settings.String("registry-token"); token != "" {
		o.Token = func(context.Context) (string, error) { return token, nil }
	}
	var err error
	o.TLS, err = tlsConfig(settings)
	return o, err
}

// tlsConfig returns nil if no setting asks for anything.
func tlsConfig(settings *config.Values) (*tls.Config, error) {
	ca, cert, key := settings.String("registry-ca-file"), settings.String("registry-cert-file"), settings.String("registry-key-file")
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--ca-file: %s holds no certificate", ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, errors.New("--cert-file and --key-file belong together; only one is given")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("--cert-file: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

// hints says what to do about a refusal.
func hints() map[*errcode.Row]string {
	return map[*errcode.Row]string{
		errcode.SubjectNotFound:       "milena schema list shows the subjects, with --deleted also soft deleted ones",
		errcode.VersionNotFound:       "milena schema list SUBJECT shows the versions, with --deleted also soft deleted ones",
		errcode.SubjectSoftDeleted:    "add --permanent to remove it for good",
		errcode.VersionSoftDeleted:    "add --permanent to remove it for good",
		errcode.SubjectNotSoftDeleted: "delete it without --permanent first",
		errcode.VersionNotSoftDeleted: "delete it without --permanent first",
		errcode.ReferenceExists:       "delete the schemas that refer to it first",
		errcode.OperationNotPermitted: "milena schema mode SUBJECT shows the mode, with --set changes it",
		errcode.Incompatible:          "milena schema diff SUBJECT FILE explains the change, milena schema config SUBJECT shows the level",
		errcode.Unauthorized:          "put user and password into the URL or into MILENA_REGISTRY_USER and MILENA_REGISTRY_PASSWORD",
		errcode.Forbidden:             "ask for the right to do this",
		errcode.TooManyRequests:       "try again later",
	}
}

// explain turns an error of the client into one for people: with an exit code,
// the registry's code and what to do.
func (s *session) explain(err error) error {
	var known *cli.Error
	var answered *errcode.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled):
		return cli.Unusable(errors.New("interrupted"), "")
	case errors.As(err, &answered) && !errors.Is(err, schema.ErrUnavailable):
		code := cli.No
		if errors.Is(err, errcode.Unauthorized) || errors.Is(err, errcode.Forbidden) || client.IsMissing(err) {
			code = cli.Usage
		}
		hint := ""
		for row, text := range hints() {
			if errors.Is(answered, row) {
				hint = text
			}
		}
		if client.IsMissing(err) {
			hint = "is " + s.registry() + " a schema registry? A path in the URL may be missing or too much"
		}
		text := refusal(answered)
		var reference *referenceError
		if errors.As(err, &reference) {
			text = "reference " + reference.name + ": " + text
		}
		return &cli.Error{Code: code, Err: errors.New(text), Hint: hint}
	case errors.Is(err, schema.ErrUnavailable):
		return s.unavailable(err)
	}
	return err
}

// unavailable says in short why there is no answer that counts.
func (s *session) unavailable(err error) error {
	const hint = "name another registry with --registry or MILENA_REGISTRY_URL"
	var answered *errcode.Error
	var asking *url.Error
	switch {
	case errors.As(err, &answered):
		return cli.Unusable(fmt.Errorf("%s does not work: %s (%d)", s.registry(), answered.Message, answered.Row.Code), "try again later")
	case errors.As(err, &asking):
		return cli.Unusable(fmt.Errorf("%s can't be reached: %w", s.registry(), asking.Err), hint)
	}
	return cli.Unusable(fmt.Errorf("%s: %w", s.registry(), err), hint)
}

// refusal is what a registry answered, with its code: the list in the text of an
// incompatible change as lines, and that an invalid schema is one without its
// text, which the reference puts before what is wrong with it.
func refusal(e *errcode.Error) string {
	head, list := e.Message, ""
	const before, last = ", details: [", "details: "
	if i := strings.Index(head, before); i >= 0 && errors.Is(e, errcode.Incompatible) {
		list = ":\n" + strings.ReplaceAll(strings.TrimSuffix(head[i+len(before):], "]"), "}, {", "}\n{")
		head = head[:i]
	}
	if i := strings.LastIndex(head, last); i >= 0 && errors.Is(e, errcode.InvalidSchema) {
		head = "invalid schema: " + head[i+len(last):]
	}
	return fmt.Sprintf("%s (%d)%s", head, e.Row.Code, list)
}

// registry names the registry without credentials.
func (s *session) registry() string { return strings.Join(s.client.URLs(), ",") }

// note writes a remark that is no result.
func (s *session) note(format string, args ...any) {
	_, _ = fmt.Fprintf(s.notes, format+"\n", args...)
}
