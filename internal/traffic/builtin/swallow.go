package builtin

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/socketfilter"
)

// swallow opens a UDP socket on a port, of both IP versions, that takes everything and
// keeps nothing: without it the stack would answer each copied packet with an error
// (ICMP, port unreachable), and so load the chain the other way.
func swallow(port int) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
	if err == nil {
		err = socketfilter.Attach(fd, []bpf.Instruction{bpf.RetConstant{Val: 0}})
	}
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet6{Port: port})
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("take UDP port %d, which the load goes to: %w", port, err)
	}
	return fd, nil
}

// ports that a load goes to, as many as are worth a socket.
func (l load) targetPorts() (list []int) {
	last := l.port
	if l.ports {
		last += (l.flows - 1) / flowsByPort
	}
	for p := l.port; p <= last && len(list) < 64; p++ {
		list = append(list, p)
	}
	return list
}
