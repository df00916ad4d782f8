package clients

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestKcat produces with each codec and reads back, alone and in a group, with
// the kcat that the distribution ships (an old librdkafka).
func TestKcat(t *testing.T) {
	path, err := exec.LookPath("kcat")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("kcat is not installed")
		}
		t.Skip("kcat is not installed")
	}
	s := start(t, append(ports(), "--data-dir", t.TempDir())...)
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), path, append([]string{"-b", s.kafka}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("kcat %v: %v\n%s", args, err, stderr.String())
		}
		return string(out)
	}
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, "key%d:value %d\n", i, i)
	}
	for _, codec := range []string{"none", "gzip", "snappy", "lz4"} {
		topic := "kcat-" + codec
		run(lines.String(), "-P", "-t", topic, "-K:", "-z", codec, "-H", "origin=kcat")
		if got := run("", "-C", "-t", topic, "-K:", "-e", "-q", "-o", "beginning", "-X", "check.crcs=true"); got != lines.String() {
			t.Errorf("%s: read back %q", codec, tail(got, 200))
		}
		if got := run("", "-G", "group-"+codec, "-X", "auto.offset.reset=earliest", "-K:", "-e", "-q", topic); got != lines.String() {
			t.Errorf("%s: the group read %q", codec, tail(got, 200))
		}
	}
	if got := run("", "-L"); !strings.Contains(got, `topic "kcat-lz4"`) {
		t.Errorf("kcat -L: %s", got)
	}
	if got := run("", "-Q", "-t", "kcat-none:0:-1"); !strings.Contains(got, "offset 200") {
		t.Errorf("kcat -Q: %s", got)
	}
}
