package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// elsewhere is an address that no machine has (RFC 5737), at which a port is only taken by who has it at all addresses.
var elsewhere = netip.MustParseAddr("192.0.2.1")

// Bindable tells whether a program in a namespace could have a port of IPv4, as it is now: over tcp, where it would listen, or udp. The
// address need not be there yet; of one that is not valid, only those count that have the port at all addresses.
func Bindable(ref, protocol string, at netip.AddrPort) (bool, error) {
	kind := unix.SOCK_STREAM
	if protocol == "udp" {
		kind = unix.SOCK_DGRAM
	}
	ip := at.Addr()
	if !ip.IsValid() {
		ip = elsewhere
	}
	err := Do(ref, func() error {
		fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		err = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_FREEBIND, 1)
		if kind == unix.SOCK_STREAM { // as one that listens has it, which connections that are just over do not keep from the port
			err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1))
		}
		if err != nil {
			return err
		}
		return unix.Bind(fd, &unix.SockaddrInet4{Port: int(at.Port()), Addr: ip.As4()})
	})
	if errors.Is(err, unix.EADDRINUSE) {
		return false, nil
	}
	return err == nil, err
}

// Binder is a process that has a port at an address of IPv4, or at all, and its name; 0 where that is not seen.
func Binder(ref, protocol string, at netip.AddrPort) (pid int, name string) {
	var sockets []string
	_ = Do(ref, func() error {
		for _, table := range []string{protocol, protocol + "6"} {
			text, _ := os.ReadFile("/proc/thread-self/net/" + table)
			sockets = append(sockets, bound(string(text), at)...)
		}
		return nil
	})
	if len(sockets) == 0 {
		return 0, ""
	}
	files, _ := filepath.Glob("/proc/[0-9]*/fd/[0-9]*")
	for _, file := range files {
		if is, err := os.Readlink(file); err != nil || !slices.Contains(sockets, is) {
			continue
		}
		of := strings.Split(file, "/")[2]
		pid, _ = strconv.Atoi(of)
		text, err := os.ReadFile(filepath.Join("/proc", of, "comm"))
		if err == nil {
			return pid, strings.TrimSpace(string(text))
		}
	}
	return 0, ""
}

// idle are the states of sockets that belong to no connection, as tables of sockets have them (proc(5)): of TCP those that listen.
var idle = []string{"0A", "07"}

// bound are the sockets in a table of the kernel's that have an address and port, or the port at all addresses, as links to them say.
func bound(table string, at netip.AddrPort) (sockets []string) {
	const state, inode = 3, 9
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) <= inode || !slices.Contains(idle, f[state]) {
			continue
		}
		address, port, _ := strings.Cut(f[1], ":")
		n, err := strconv.ParseUint(port, 16, 16)
		if err == nil && uint16(n) == at.Port() && (strings.Trim(address, "0") == "" || at.Addr().IsValid() && address == tabled(at.Addr())) {
			sockets = append(sockets, fmt.Sprintf("socket:[%s]", f[inode]))
		}
	}
	return sockets
}

// tabled is an address of IPv4 as these tables have it: as its bytes lie in memory, read as a number.
func tabled(a netip.Addr) string {
	b := a.As4()
	return fmt.Sprintf("%08X", binary.NativeEndian.Uint32(b[:]))
}
