// Package ethtool reads what the drivers of interfaces tell, names and counters, and
// reads and changes offloads and queues, through a socket that was opened in the
// interfaces' namespace. It uses ioctl(2) (linux/ethtool.h), which kernels without
// ethtool's netlink family have too.
package ethtool

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// The commands of linux/ethtool.h.
const (
	cmdStrings    = 0x1b // ETHTOOL_GSTRINGS
	cmdStatistics = 0x1d // ETHTOOL_GSTATS
	cmdSetInfo    = 0x37 // ETHTOOL_GSSET_INFO
	cmdFeatures   = 0x3a // ETHTOOL_GFEATURES
)

// The sets of names.
const (
	setStatistics = 1 // ETH_SS_STATS
	setFeatures   = 4 // ETH_SS_FEATURES
)

// nameLength is ETH_GSTRING_LEN.
const nameLength = 32

// Socket asks the drivers of one namespace's interfaces.
type Socket struct {
	ref string
	fd  int
	// features are the names of offloads, which are the kernel's own: one list for
	// all interfaces.
	features []string
}

// Open a socket in the namespace ref.
func Open(ref string) (*Socket, error) {
	s := &Socket{ref: ref, fd: -1}
	err := netns.Do(ref, func() (err error) {
		s.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open a socket in namespace %q: %w", ref, err)
	}
	return s, nil
}

// Close the socket.
func (s *Socket) Close() { _ = unix.Close(s.fd) }

// request is struct ifreq with a pointer.
type request struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// ask hands a command to the driver of an interface; the answer takes its place.
func (s *Socket) ask(device string, command []byte) error {
	r := request{data: unsafe.Pointer(&command[0])}
	copy(r.name[:unix.IFNAMSIZ-1], device)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r)))
	runtime.KeepAlive(command)
	if errno != 0 {
		return fmt.Errorf("ask the driver of %s in namespace %q: %w", device, s.ref, errno)
	}
	return nil
}

var native = binary.NativeEndian

// count of the names in a set, 0 where the driver has none.
func (s *Socket) count(device string, set uint) (uint32, error) {
	b := make([]byte, 20)
	native.PutUint32(b, cmdSetInfo)
	native.PutUint64(b[8:], 1<<set)
	if err := s.ask(device, b); err != nil {
		return 0, err
	}
	if native.Uint64(b[8:])&(1<<set) == 0 {
		return 0, nil
	}
	return native.Uint32(b[16:]), nil
}

// names of a set, in the driver's order.
func (s *Socket) names(device string, set uint) ([]string, error) {
	n, err := s.count(device, set)
	if err != nil || n == 0 {
		return nil, err
	}
	b := make([]byte, 12+int(n)*nameLength)
	native.PutUint32(b, cmdStrings)
	native.PutUint32(b[4:], uint32(set))
	native.PutUint32(b[8:], n)
	if err := s.ask(device, b); err != nil {
		return nil, err
	}
	return parseNames(b[12:]), nil
}

func parseNames(b []byte) []string {
	names := make([]string, 0, len(b)/nameLength)
	for ; len(b) >= nameLength; b = b[nameLength:] {
		name, _, _ := bytes.Cut(b[:nameLength], []byte{0})
		names = append(names, string(name))
	}
	return names
}

// Driver is the name of an interface's driver.
func (s *Socket) Driver(device string) (string, error) {
	info, err := unix.IoctlGetEthtoolDrvinfo(s.fd, device)
	if err != nil {
		return "", fmt.Errorf("ask the driver of %s in namespace %q: %w", device, s.ref, err)
	}
	return unix.ByteSliceToString(info.Driver[:]), nil
}

// Statistics are a driver's own counters by its own names; none where it has none.
func (s *Socket) Statistics(device string) (map[string]uint64, error) {
	names, err := s.names(device, setStatistics)
	if err != nil {
		return nil, err
	}
	values := map[string]uint64{}
	if len(names) == 0 {
		return values, nil
	}
	b := make([]byte, 8+8*len(names))
	native.PutUint32(b, cmdStatistics)
	native.PutUint32(b[4:], uint32(len(names)))
	if err := s.ask(device, b); err != nil {
		return nil, err
	}
	for i, name := range names {
		values[name] = native.Uint64(b[8+8*i:])
	}
	return values, nil
}
