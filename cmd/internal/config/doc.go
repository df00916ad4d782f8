// Package config is the only place that knows the names of flags, environment
// variables and keys of the configuration file. One table (table.go) has a row
// for each setting; flags, variables, --help and checks are derived from it.
//
// Order of precedence: flag, MILENA_… variable, configuration file, default.
// Unknown flags, variables and keys are errors: a typo must not run with
// defaults. Settings are of milena serve or of the commands that talk to a
// registry; what belongs to the others is known and does not count, so that all
// may share one file and one environment.
package config
