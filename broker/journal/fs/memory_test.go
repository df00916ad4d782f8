package fs_test

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"milena/broker/journal/fs"
)

// TestFS runs what both implementations promise.
func TestFS(t *testing.T) {
	systems := map[string]fs.FS{"os": fs.OS{}, "memory": fs.NewMemory(1)}
	for name, system := range systems {
		t.Run(name, func(t *testing.T) { testFS(t, system, filepath.Join(t.TempDir(), "x", "y")) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testFS(t *testing.T, system fs.FS, dir string) {
	must(t, system.MkdirAll(dir))
	must(t, system.MkdirAll(dir))
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if _, err := system.Open(a); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("open of nothing: %v", err)
	}
	f, err := system.Create(a)
	must(t, err)
	if _, err := system.Create(a); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("create twice: %v", err)
	}
	must(t, f.Preallocate(8192))
	_, err = f.WriteAt([]byte("hello"), 100)
	must(t, err)
	must(t, f.Preallocate(4096))
	must(t, f.Sync())
	must(t, system.SyncDir(dir))
	if size, err := f.Size(); size != 8192 || err != nil {
		t.Errorf("size %d, %v", size, err)
	}
	got := make([]byte, 9)
	if _, err := f.ReadAt(got, 98); err != nil || string(got) != "\x00\x00hello\x00\x00" {
		t.Errorf("read %q, %v", got, err)
	}
	must(t, f.Truncate(102))
	must(t, f.Truncate(104))
	if n, err := f.ReadAt(got, 98); n != 6 || err == nil || string(got[:n]) != "\x00\x00he\x00\x00" {
		t.Errorf("read over the end: %q, %v", got[:n], err)
	}
	must(t, system.Rename(a, b))
	if names, err := system.List(dir); err != nil || !reflect.DeepEqual(names, []string{"b"}) {
		t.Errorf("list %q, %v", names, err)
	}
	must(t, system.Remove(b))
	if err := system.Remove(b); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("remove twice: %v", err)
	}
	must(t, f.Close())
	if _, err := f.WriteAt([]byte{1}, 0); !errors.Is(err, iofs.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	lock, err := system.Lock(filepath.Join(dir, "lock"))
	must(t, err)
	if _, err := system.Lock(filepath.Join(dir, "lock")); !errors.Is(err, fs.ErrLocked) {
		t.Errorf("second lock: %v", err)
	}
	must(t, lock.Close())
	lock, err = system.Lock(filepath.Join(dir, "lock"))
	must(t, err)
	must(t, lock.Close())
}

func read(t *testing.T, m *fs.Memory, name string) []byte {
	t.Helper()
	f, err := m.Open(name)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); size > 0 && err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCrash: synced bytes are always there, unsynced ones in every way.
func TestCrash(t *testing.T) {
	m := fs.NewMemory(1)
	f, err := m.Create("d/f")
	must(t, err)
	synced, later := bytes.Repeat([]byte{1}, 2000), bytes.Repeat([]byte{2}, 2000)
	_, err = f.WriteAt(synced, 0)
	must(t, err)
	if names, _ := m.Crash(1).List("d"); len(names) > 1 {
		t.Fatal(names)
	}
	must(t, f.Sync())
	must(t, m.SyncDir("d"))
	_, err = f.WriteAt(later, 2000)
	must(t, err)
	must(t, m.Rename("d/f", "d/g"))
	seen := map[string]int{}
	for seed := range uint64(500) {
		c := m.Crash(seed)
		name := "d/f"
		if names, _ := c.List("d"); len(names) != 1 {
			t.Fatalf("seed %d: %q", seed, names)
		} else if names[0] == "g" {
			name = "d/g"
			seen["renamed"]++
		}
		b := read(t, c, name)
		if !bytes.Equal(b[:2000], synced) {
			t.Fatalf("seed %d: synced bytes differ", seed)
		}
		switch n := bytes.Count(b[2000:], []byte{2}); {
		case n == 2000:
			seen["all"]++
		case len(b) == 2000:
			seen["nothing"]++
		case bytes.Contains(b[2000:], []byte{0, 2}):
			seen["holes"]++
		default:
			seen["prefix"]++
		}
		if !bytes.Equal(b, read(t, m.Crash(seed), name)) {
			t.Fatalf("seed %d gives different results", seed)
		}
	}
	for _, kind := range []string{"renamed", "all", "nothing", "holes", "prefix"} {
		if seen[kind] == 0 || seen[kind] == 500 {
			t.Errorf("%s: %d of 500", kind, seen[kind])
		}
	}
	if !bytes.Equal(read(t, m.Kill(), "d/g")[2000:], later) {
		t.Error("a killed process loses what it wrote")
	}
	if names, _ := m.Kill().Crash(3).List("d"); len(names) != 1 {
		t.Errorf("killed, then crashed: %q", names)
	}
}

// TestFailedSync: after it, bytes stay visible but are never durable.
func TestFailedSync(t *testing.T) {
	lost := 0
	for seed := range uint64(50) {
		m := fs.NewMemory(seed)
		f, err := m.Create("f")
		must(t, err)
		must(t, m.SyncDir("."))
		_, err = f.WriteAt(bytes.Repeat([]byte{1}, 1000), 0)
		must(t, err)
		m.SetFault(func(op fs.Op, _ string, _ int) (int, error) {
			if op == fs.OpSync {
				return 0, syscall.EIO
			}
			return 0, nil
		})
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		m.SetFault(nil)
		must(t, f.Sync())
		if len(read(t, m, "f")) != 1000 {
			t.Fatal("bytes are gone")
		}
		if bytes.Count(read(t, m.Crash(1), "f"), []byte{1}) < 1000 {
			lost++
		}
	}
	if lost < 10 {
		t.Errorf("lost in %d of 50", lost)
	}
}

func TestFaults(t *testing.T) {
	m := fs.NewMemory(1)
	f, err := m.Create("f")
	must(t, err)
	m.SetFault(func(op fs.Op, _ string, size int) (int, error) {
		if op == fs.OpWrite {
			return size / 2, syscall.EIO
		}
		return 0, nil
	})
	if n, err := f.WriteAt([]byte("abcd"), 0); n != 2 || !errors.Is(err, syscall.EIO) {
		t.Errorf("short write: %d, %v", n, err)
	}
	m.SetFault(nil)
	m.SetSpace(5)
	if n, err := f.WriteAt([]byte("abcdefgh"), 0); n != 5 || !fs.IsFull(err) {
		t.Errorf("full: %d, %v", n, err)
	}
	if err := f.Preallocate(6); !fs.IsFull(err) {
		t.Errorf("full: %v", err)
	}
	if string(read(t, m, "f")) != "abcde" || m.Used() != 5 {
		t.Errorf("%q, used %d", read(t, m, "f"), m.Used())
	}
}
