package tun

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const clone = "/dev/net/tun"

// create makes a persistent device in the namespace of the thread.
func create(name string) error {
	fd, err := attach(name, unix.IFF_TUN_EXCL)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.IoctlSetInt(fd, unix.TUNSETPERSIST, 1)
}

// Attach opens a device of the thread's namespace, whose packets are read and
// written one a call, without waiting. There is one reader at a time: EBUSY.
func Attach(name string) (fd int, err error) {
	if _, err := net.InterfaceByName(name); err != nil {
		return -1, fmt.Errorf("tun device %s: %w", name, err)
	}
	return attach(name, 0)
}

func attach(name string, flags uint16) (int, error) {
	fd, err := unix.Open(clone, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", clone, err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | flags)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("attach to tun device %s: %w", name, err)
	}
	return fd, nil
}

// ErrUnread is returned for a device that nobody reads.
var ErrUnread = errors.New("no program reads it")

// Attached tells whether a program reads the device of the thread's namespace and
// the kernel has begun to pass packets on to it.
func Attached(name string) error {
	l, err := netlink.LinkByName(name)
	if err == nil && l.Attrs().OperState != netlink.OperUp {
		err = ErrUnread
	}
	if err != nil {
		return fmt.Errorf("tun device %s: %w", name, err)
	}
	return nil
}
