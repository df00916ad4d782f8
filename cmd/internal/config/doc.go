// Package config is the only place that knows the names of flags, environment
// variables and keys of the configuration file. One table (table.go) has a row
// for each setting; flags, variables, --help and checks are derived from it.
//
// Order of precedence: flag, MILENA_… variable, configuration file, default.
// Unknown flags, variables and keys are errors: a typo must not run with
// defaults.
package config
