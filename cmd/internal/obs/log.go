package obs

import (
	"io"
	"log/slog"
)

// NewLogger returns a logger that writes to w. Level is debug, info, warn or
// error and format text or json, as the settings table checks them.
func NewLogger(w io.Writer, level, format string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
