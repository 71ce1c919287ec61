package builtin

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// listen keeps the frames that reach the router from the client, until what it gives
// is called.
func listen(t *testing.T, r routed) func() [][]byte {
	t.Helper()
	fd := -1
	if err := netns.Do(r.router, func() (err error) {
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		device, err := unix.NewIfreq("eth0")
		if err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, device); err != nil {
			return err
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20); err != nil {
			return err
		}
		all := uint16(unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8)
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: int(device.Uint32())})
	}); err != nil {
		t.Fatal(err)
	}
	return func() (frames [][]byte) {
		defer func() { _ = unix.Close(fd) }()
		for {
			b := make([]byte, 2048)
			n, from, err := unix.Recvfrom(fd, b, 0)
			if errors.Is(err, unix.EAGAIN) {
				return frames
			}
			if err != nil {
				t.Fatal(err)
			}
			if ll, ok := from.(*unix.SockaddrLinklayer); ok && ll.Pkttype == unix.PACKET_HOST && n > 60 {
				frames = append(frames, b[:n])
			}
		}
	}
}
