package netns_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestSysfsOfContainers can be written to, though an engine has mounted it before to be read alone, and what that mounted stays so.
func TestSysfsOfContainers(t *testing.T) {
	nstest.Root(t)
	ns := nstest.Namespace(t)
	const file = "class/net/lo/queues/rx-0/rps_cpus"
	var engines int
	err := netns.Do(ns, func() error {
		fs, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fs) }()
		if err := unix.FsconfigSetFlag(fs, "ro"); err != nil {
			return err
		}
		if err := unix.FsconfigCreate(fs); err != nil {
			return err
		}
		engines, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(engines) }()
	s, err := netns.OpenSysfs(ns)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Write(file, "1"); err != nil {
		t.Error(err)
	}
	if got, err := s.Read(file); err != nil || got != "1" {
		t.Errorf("%q, %v", got, err)
	}
	if fd, err := unix.Openat(engines, file, unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
		_ = unix.Close(fd)
		t.Error("what the engine mounted can be written to")
	}
}
