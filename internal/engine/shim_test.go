package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStray: the shim of a container is ended once it has had time to end by itself, also where it has its containerd by another name; those of
// other containers, of others' and of another containerd are let be.
func TestStray(t *testing.T) {
	dir := t.TempDir()
	at, other, also := filepath.Join(dir, "c.sock"), filepath.Join(dir, "other.sock"), filepath.Join(dir, "also.sock")
	for _, name := range []string{at, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at, also); err != nil {
		t.Fatal(err)
	}
	id := "nfchain." + filepath.Base(dir) + ".fw" // as no other test's
	shimOf := func(namespace, id, address string) {
		begin(t, dir, "/usr/bin/containerd-shim-runc-v2", "-namespace", namespace, "-id", id, "-address", address)
	}
	shimOf(space, id, at)
	shimOf(space, id, also)
	shimOf(space, id+"2", at)
	shimOf("moby", id, at)
	shimOf(space, id, other)
	there := func(id, address string) (n int) {
		for _, s := range shims(id, address) {
			s.close()
			n++
		}
		return n
	}
	for deadline := time.Now().Add(10 * time.Second); there(id, at) != 2 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
	if n := there(id, at); n != 2 {
		t.Fatalf("%d shims of the container's are seen, of 2", n)
	}
	const after = 300 * time.Millisecond
	began := time.Now()
	endStray(t.Context(), id, at, after)
	if took := time.Since(began); took < after {
		t.Errorf("they had %v to end by themselves, of %v", took, after)
	}
	for deadline := time.Now().Add(10 * time.Second); there(id, at) > 0 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
	if n, others := there(id, at), there(id+"2", at)+there(id, other); n != 0 || others != 2 {
		t.Errorf("%d of the container's are left, and %d of 2 others", n, others)
	}
	began = time.Now()
	endStray(t.Context(), id, at, time.Hour)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("none was waited for, for %v", took)
	}
}

// TestSocketOf is where containerd 1.6.20 has the shim of a container listen, as seen once.
func TestSocketOf(t *testing.T) {
	const want = "/run/containerd/s/8dcc9d12f082564a2dc38f327c3873f3e6d204004e5625f5e6e8b3145c662ad3"
	if is := socketOf("/tmp/c/c.sock", "nfchain.sil.fwd"); is != want {
		t.Errorf("%s, want %s", is, want)
	}
}
