package check

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// Git reads the schema files below a folder as they were at a revision. It asks
// git once for the list of files and once for all texts.
func Git(ctx context.Context, dir, revision string) (*Tree, error) {
	if revision == "" || strings.HasPrefix(revision, "-") {
		return nil, fmt.Errorf("%q is no git revision", revision)
	}
	list, err := git(ctx, dir, nil, "ls-tree", "-r", "-z", revision, "--", ".")
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", revision, err)
	}
	var names []string
	var hashes bytes.Buffer
	for entry := range bytes.SplitSeq(list, []byte{0}) {
		head, name, ok := bytes.Cut(entry, []byte{'\t'})
		fields := bytes.Fields(head)
		// Only regular files: 120000 are links, commits are submodules.
		if !ok || len(fields) != 3 || !bytes.HasPrefix(fields[0], []byte("100")) || !mayBeSchema(string(name)) {
			continue
		}
		if len(names) >= filesMax {
			return nil, fmt.Errorf("files of %s: %w", revision, ErrTooLarge)
		}
		names = append(names, string(name))
		hashes.Write(fields[2])
		hashes.WriteByte('\n')
	}
	t := newTree(revision)
	if len(names) == 0 {
		return t, nil
	}
	texts, err := git(ctx, dir, &hashes, "cat-file", "--batch")
	if err != nil {
		return nil, fmt.Errorf("read files of %s: %w", revision, err)
	}
	r := bufio.NewReader(bytes.NewReader(texts))
	for _, name := range names {
		text, err := batched(r)
		if err == nil {
			err = t.add(name, text)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", name, revision, err)
		}
	}
	return t, nil
}

// batched reads one object of git cat-file --batch: "hash type size", a line
// feed, the content, a line feed.
func batched(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return nil, fmt.Errorf("git answers %q", strings.TrimSpace(line))
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size > fileBytesMax {
		return nil, ErrTooLarge
	}
	text := make([]byte, size+1)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	return text[:size], nil
}

// git runs git in a folder and returns what it prints.
func git(ctx context.Context, dir string, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Stdin = in
	var out, errs limited
	out.left, errs.left = treeBytesMax+filesMax*100, 4<<10
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if out.full {
			return nil, ErrTooLarge
		}
		said := strings.TrimSpace(errs.String())
		if said == "" {
			return nil, err
		}
		return nil, errors.New(strings.ReplaceAll(said, "\n", "; "))
	}
	return out.Bytes(), nil
}

// limited is a buffer with an end.
type limited struct {
	bytes.Buffer
	left int
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		l.full = true
		return 0, ErrTooLarge
	}
	l.left -= len(p)
	return l.Buffer.Write(p)
}
