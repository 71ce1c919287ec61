package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// inOwnMounts runs a child in a mount namespace of its own, so that what it
// mounts goes with it, however it ends.
func inOwnMounts(t *testing.T, act string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts a small tmpfs")
	}
	c := child(act, t.TempDir())
	var complaint bytes.Buffer
	c.Stderr = &complaint
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if err := c.Run(); err != nil {
		t.Errorf("%v: %s", err, complaint.String())
	}
}

func TestFullDisk(t *testing.T) { inOwnMounts(t, "full") }

func TestReadOnlyDisk(t *testing.T) { inOwnMounts(t, "readonly") }

// fillDisk appends until a small disk is full.
func fillDisk(dir string, _ []string) error {
	ctx := context.Background()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		return err
	}
	s, err := Open(filepath.Join(dir, "results.db"))
	if err != nil {
		return err
	}
	if err := s.CreateRun(ctx, sampleRun("a", start)); err != nil {
		return err
	}
	stored := 0
	for err = nil; err == nil && stored < 1000; stored++ {
		err = s.AppendTrial(ctx, "a", bulky(stored+1))
	}
	stored--
	if e := expect(err, ErrFull, s.Path()); e != nil {
		return e
	}
	return errors.Join(sameTrials(s, stored), newOnFull(dir), recovers(s, stored))
}

func bulky(repeat int) trial.Trial {
	t := sampleTrial(0, repeat)
	t.Raw[0].Output = []byte(`"` + strings.Repeat("x", 20_000) + `"`)
	return t
}

// newOnFull: a file that cannot even be begun says so too.
func newOnFull(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600); err == nil {
		return errors.New("the disk is not full")
	}
	path := filepath.Join(dir, "new", "results.db")
	_, err := Open(path)
	if e := expect(err, ErrFull, path); e != nil {
		return e
	}
	return os.Remove(filepath.Join(dir, "filler"))
}

// recovers: with space again, the same store goes on.
func recovers(s *Store, stored int) error {
	ctx := context.Background()
	err := syscall.Mount("", filepath.Dir(s.path), "", syscall.MS_REMOUNT, "size=2m")
	return errors.Join(err, s.AppendTrial(ctx, "a", bulky(stored+1)), sameTrials(s, stored+1), s.Close())
}

func sameTrials(s *Store, want int) error {
	run, err := s.Get(context.Background(), "a")
	if err == nil && (len(run.Trials) != want || want == 0) {
		err = fmt.Errorf("%d trials are left of %d", len(run.Trials), want)
	}
	return err
}

func expect(err, want error, path string) error {
	if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
		return fmt.Errorf("got %v, want %v naming %s", err, want, path)
	}
	return nil
}

// useReadOnly reads results from a disk that cannot be written.
func useReadOnly(dir string, _ []string) error {
	ctx := context.Background()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		return err
	}
	path := filepath.Join(dir, "results.db")
	if err := appendCount(path, []string{"a", "2"}); err != nil {
		return err
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	s, err := Open(path)
	if err != nil {
		return err
	}
	_, missing := Open(filepath.Join(dir, "new", "results.db"))
	return errors.Join(sameTrials(s, 2),
		expect(s.AppendTrial(ctx, "a", sampleTrial(1, 1)), ErrReadOnly, path),
		expect(s.CreateRun(ctx, sampleRun("b", start)), ErrReadOnly, path),
		expect(missing, ErrReadOnly, filepath.Join(dir, "new")))
}
