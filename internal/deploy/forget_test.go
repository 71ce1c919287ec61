package deploy_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestForgottenLast: what a chain was made from is known as long as anything is that is noted of it, wherever that is broken off.
func TestForgottenLast(t *testing.T) {
	nstest.Root(t)
	owner := nstest.Owner(t)
	if err := deploy.Remember(owner, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(deploy.StateDir(owner)) })
	for _, name := range []string{"a.log", "settled", "z.log"} {
		if err := os.WriteFile(filepath.Join(deploy.StateDir(owner), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	busy := filepath.Join(deploy.StateDir(owner), "zz") // which comes after all others, and cannot be removed as long as something is mounted there
	if err := os.Mkdir(busy, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", busy, "tmpfs", 0, "size=4k"); err != nil {
		t.Fatal(err)
	}
	unmount := func() error { return unix.Unmount(busy, unix.MNT_DETACH) }
	t.Cleanup(func() { _ = unmount() })
	d := &deploy.Deployer{}
	if _, err := d.Down(t.Context(), owner); err == nil {
		t.Error("what cannot be removed is removed")
	}
	if _, err := deploy.Recall(owner); err != nil {
		t.Errorf("of what is left nobody knows whose it is: %v", err)
	}
	if err := unmount(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Down(t.Context(), owner); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(deploy.StateDir(owner)); !os.IsNotExist(err) {
		t.Errorf("left: %v", err)
	}
}
