package local_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"milena/broker/journal"
	"milena/broker/journal/fs"
	"milena/broker/journal/local"
)

// childDir names the folder to the child process of TestKill.
const childDir = "MILENA_TEST_JOURNAL_DIR"

// TestKill kills a process that appends without syncing: everything it was
// told about is there, and its lock isn't.
func TestKill(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	dir := t.TempDir()
	command := exec.Command(os.Args[0], "-test.run=^TestKill$")
	command.Env = append(os.Environ(), childDir+"="+dir)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	told := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "appended %d", &told); err != nil {
			t.Errorf("child says %q", lines.Text())
		}
		if told == 200 {
			if _, err := local.Open(local.Options{Dir: dir}); !errors.Is(err, fs.ErrLocked) {
				t.Errorf("open beside another process: %v", err)
			}
		}
		if told == 500 {
			_ = command.Process.Kill()
		}
	}
	_ = command.Wait() // it was killed
	j, err := local.Open(local.Options{Dir: dir, SegmentBytes: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if n, err := count(j); err != nil || n < told || told < 500 {
		t.Errorf("%d entries of %d, %v", n, told, err)
	}
}

func child(dir string) {
	j, err := local.Open(local.Options{Dir: dir, SegmentBytes: 16 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 1_000_000 {
		if _, err := j.Append([]journal.Entry{{Chunk: make([]byte, i%700), Commit: []byte{1}}}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("appended", i+1)
	}
}
