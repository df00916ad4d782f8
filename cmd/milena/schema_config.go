package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/registry/api"
	"milena/registry/errcode"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config [SUBJECT]",
		Short: "Show or change the config of a subject or of the registry",
		Long: "Show or change the config of a subject, or without one that of the context or the registry.\n\n" +
			"Keys: compatibility (NONE, BACKWARD, FORWARD, FULL, and the last three with _TRANSITIVE),\n" +
			"compatibilityGroup, compatibilityPolicy, normalize, validateFields, validateNewSchemas, validateRules,\n" +
			"alias, aliasForDeks. Metadata and rules are given in a file.",
		Example: "  milena schema config orders-value\n" +
			"  milena schema config orders-value --set compatibility=FULL --set normalize=true\n" +
			"  milena schema config orders-value --unset alias\n" +
			"  milena schema config --set compatibility=BACKWARD_TRANSITIVE",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSubjectOnly,
	}
	f := cmd.Flags()
	f.StringArray("set", nil, "`KEY=VALUE`; may be repeated")
	f.StringArray("unset", nil, "`KEY` to clear; may be repeated")
	f.String("file", "", "file with a config as JSON, as the registry's API takes it")
	f.Bool("delete", false, "remove the config, so that the one above counts")
	_ = cmd.RegisterFlagCompletionFunc("set", cobra.FixedCompletions(setCompletions(), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	cmd.MarkFlagsMutuallyExclusive("set", "delete")
	cmd.MarkFlagsMutuallyExclusive("unset", "delete")
	cmd.MarkFlagsMutuallyExclusive("file", "delete")
	cmd.RunE = withSession(configure)
	return cmd
}

func setCompletions() []string {
	return []string{
		"compatibility=NONE", "compatibility=BACKWARD", "compatibility=BACKWARD_TRANSITIVE", "compatibility=FORWARD",
		"compatibility=FORWARD_TRANSITIVE", "compatibility=FULL", "compatibility=FULL_TRANSITIVE", "compatibilityGroup=",
		"compatibilityPolicy=", "normalize=", "validateFields=", "validateNewSchemas=", "validateRules=", "alias=", "aliasForDeks=",
	}
}

// argument returns the only argument, "" if there is none.
func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func configure(ctx context.Context, s *session, args []string) error {
	f := s.cmd.Flags()
	subject := argument(args)
	if remove, _ := f.GetBool("delete"); remove {
		old, err := s.client.DeleteConfig(ctx, subject)
		if errors.Is(err, errcode.SubjectNotFound) {
			return cli.Refused(fmt.Errorf("%s has no config of its own", subject), "")
		}
		if err != nil {
			return err
		}
		return s.out.Value(old, "deleted:\n"+configText(old))
	}
	req, changed, err := s.configRequest()
	if err != nil {
		return cli.Unusable(err, "")
	}
	if changed {
		answer, err := s.client.SetConfig(ctx, subject, req)
		if err != nil {
			return err
		}
		return s.out.Value(answer, configText(answer))
	}
	return s.showConfig(ctx, subject)
}

// inheritedConfig is a config for programs, which must know whose it is.
type inheritedConfig struct {
	api.Config
	Inherited bool `json:"inherited"`
}

func (s *session) showConfig(ctx context.Context, subject string) error {
	v, err := s.client.Config(ctx, subject, false)
	inherited := errors.Is(err, errcode.CompatibilityNotSet)
	if inherited {
		v, err = s.client.Config(ctx, subject, true)
	}
	if err != nil {
		return err
	}
	text := configText(v)
	if inherited {
		text += "(inherited: it has no config of its own)\n"
	}
	return s.out.Value(inheritedConfig{v, inherited}, text)
}

// configRequest reads the flags that change a config, and whether any does.
func (s *session) configRequest() (api.ConfigRequest, bool, error) {
	f := s.cmd.Flags()
	members := map[string]json.RawMessage{}
	if path, _ := f.GetString("file"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return api.ConfigRequest{}, false, fmt.Errorf("--file: %w", err)
		}
		if err := json.Unmarshal(text, &members); err != nil {
			return api.ConfigRequest{}, false, fmt.Errorf("--file: %s holds no config: %w", path, err)
		}
		// As GET answers, so that what was read can be written again.
		if level, ok := members["compatibilityLevel"]; ok && members["compatibility"] == nil {
			members["compatibility"] = level
		}
	}
	sets, _ := f.GetStringArray("set")
	for _, set := range sets {
		key, value, ok := strings.Cut(set, "=")
		if !ok {
			return api.ConfigRequest{}, false, fmt.Errorf("--set %s: want KEY=VALUE", set)
		}
		if err := knownKey(key); err != nil {
			return api.ConfigRequest{}, false, fmt.Errorf("--set %s: %w", set, err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return api.ConfigRequest{}, false, err
		}
		members[key] = text
	}
	unsets, _ := f.GetStringArray("unset")
	for _, key := range unsets {
		if err := knownKey(key); err != nil && !strings.HasPrefix(key, "default") && !strings.HasPrefix(key, "override") {
			return api.ConfigRequest{}, false, fmt.Errorf("--unset %s: %w", key, err)
		}
		members[key] = json.RawMessage("null")
	}
	if len(members) == 0 {
		return api.ConfigRequest{}, f.Changed("file"), nil
	}
	body, err := json.Marshal(members)
	if err != nil {
		return api.ConfigRequest{}, false, err
	}
	req, err := api.DecodeConfig(body)
	return req, true, err
}

func configKeys() []string {
	return []string{
		"compatibility", "compatibilityGroup", "compatibilityPolicy", "normalize", "validateFields", "validateNewSchemas",
		"validateRules", "alias", "aliasForDeks",
	}
}

func knownKey(key string) error {
	if !slices.Contains(configKeys(), key) {
		return fmt.Errorf("no such key; there are %s", strings.Join(configKeys(), ", "))
	}
	return nil
}

// configText writes a config for people: a key and its value on each line, in
// the order of the keys.
func configText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err.Error()
	}
	if level, ok := members["compatibilityLevel"]; ok {
		members["compatibility"] = level
		delete(members, "compatibilityLevel")
	}
	keys := make([]string, 0, len(members))
	for key := range members {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		value := string(bytes.TrimSpace(members[key]))
		var plain string
		if json.Unmarshal(members[key], &plain) == nil {
			value = plain
		}
		fmt.Fprintf(&b, "%s = %s\n", key, value)
	}
	if len(keys) == 0 {
		return "nothing is set\n"
	}
	return b.String()
}
