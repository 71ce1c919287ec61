package proof

import (
	"errors"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// answering is an unconnected socket that writes to whom it last read from, out of the
// address where that arrived.
type answering struct {
	*net.UDPConn
	to netip.AddrPort
	// at is the control message that says where.
	at []byte
}

// whole has the kernel tell where packets arrive.
func (a *answering) whole() error {
	raw, err := a.SyscallConn()
	if err != nil {
		return err
	}
	level, option := unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO
	if a.LocalAddr().(*net.UDPAddr).IP.To4() != nil {
		level, option = unix.IPPROTO_IP, unix.IP_PKTINFO
	}
	var set error
	err = raw.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), level, option, 1) })
	return errors.Join(err, set)
}

// Read implements io.Reader.
func (a *answering) Read(b []byte) (int, error) {
	control := make([]byte, 128)
	n, cn, _, from, err := a.ReadMsgUDPAddrPort(b, control)
	if err == nil {
		a.to, a.at = from, anyInterface(control[:cn])
	}
	return n, err
}

// Where a control message has the index of the interface: in_pktinfo of ip(7) begins
// with it, in6_pktinfo of RFC 3542 §6 ends with it.
const (
	index4, index6 = unix.SizeofCmsghdr, unix.SizeofCmsghdr + 16
	sizeOfIndex    = 4
)

// anyInterface leaves the way back to the routes.
func anyInterface(control []byte) []byte {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return nil
	}
	at := index4
	if messages[0].Header.Level == unix.IPPROTO_IPV6 {
		at = index6
	}
	if len(control) < at+sizeOfIndex {
		return nil
	}
	clear(control[at : at+sizeOfIndex])
	return control
}

// Write implements io.Writer.
func (a *answering) Write(b []byte) (int, error) {
	n, _, err := a.WriteMsgUDPAddrPort(b, a.at, a.to)
	return n, err
}
