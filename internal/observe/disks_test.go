package observe

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What is written and synced must reach the disk, where the temporary directory
// is on one.
func TestBlocksWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	var on unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &on); err != nil {
		t.Fatal(err)
	}
	if on.Type != unix.EXT4_SUPER_MAGIC {
		t.Skipf("the temporary directory is on a file system of type %#x, not on a disk's ext4 (%#x)", on.Type, unix.EXT4_SUPER_MAGIC)
	}
	w, err := Start(t.Context(), Targets{})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.before.disks) == 0 {
		if disks, _ := filepath.Glob("/sys/block/*/device"); len(disks) > 0 {
			t.Fatalf("%v are there, and no disk is seen", disks)
		}
		t.Skip("no disk here has a device behind it")
	}
	writeSynced(t, path, 4<<20)
	got, err := w.Stop(t.Context())
	if err != nil || got.BlockWritten == nil || *got.BlockWritten < 4<<20 {
		t.Errorf("%+v, %v", got, err)
	}
}

func writeSynced(t *testing.T, path string, size int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkSample is the cost of one look at a chain of a thousand processes.
func BenchmarkSample(b *testing.B) {
	pids := make([]int, 1000)
	for i := range pids {
		pids[i] = os.Getpid()
	}
	w, err := Start(b.Context(), Targets{Every: time.Hour, Processes: func() map[string][]int { return map[string][]int{"n": pids} }})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w.sample()
	}
	_, _ = w.Stop(b.Context())
}
