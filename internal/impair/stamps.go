package impair

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/socketfilter"
)

// stamps gives the kernel's time at which packets went into a tun device, which does
// not tell it itself: a program that is woken late would count from then. They come
// from a packet socket's ring in shared memory (packet(7), PACKET_RX_RING), which holds
// the beginning of every packet beside its time.
type stamps struct {
	fd   int
	ring []byte
	next int
	// clock that the times are of, and since when it is watched.
	clock steady
	began time.Time
}

const (
	// snap is how much of a packet is compared: its IPv6 and transport headers.
	snap = 64
	// frameSize holds a header, an address and the beginning of a packet.
	frameSize = 256
	blockSize = 1 << 16
	frames    = 1 << 14
	// oldest a packet may be when it is read.
	oldest = time.Second
)

// openStamps watches a device of the thread's namespace.
func openStamps(device string) (*stamps, error) {
	s := &stamps{fd: -1, began: time.Now()}
	if err := s.open(device); err != nil {
		s.close()
		return nil, fmt.Errorf("watch when packets reach %s: %w", device, err)
	}
	return s, nil
}

func (s *stamps) open(device string) (err error) {
	dev, err := net.InterfaceByName(device)
	if err != nil {
		return err
	}
	if s.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if err := s.filter(); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2); err != nil {
		return err
	}
	request := &unix.TpacketReq{Block_size: blockSize, Block_nr: frames * frameSize / blockSize, Frame_size: frameSize, Frame_nr: frames}
	if err := unix.SetsockoptTpacketReq(s.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, request); err != nil {
		return err
	}
	if s.ring, err = unix.Mmap(s.fd, 0, frames*frameSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return err
	}
	return unix.Bind(s.fd, &unix.SockaddrLinklayer{Protocol: binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL}), Ifindex: dev.Index})
}

// filter lets in the beginnings of packets that leave the kernel for the device.
func (s *stamps) filter() error {
	return socketfilter.Attach(s.fd, []bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtType},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PACKET_OUTGOING, SkipFalse: 1},
		bpf.RetConstant{Val: snap},
		bpf.RetConstant{Val: 0},
	})
}

func (s *stamps) close() {
	if s.ring != nil {
		_ = unix.Munmap(s.ring)
	}
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
	}
}

// age of a packet that was read now. What the ring has before it did not get into
// the device; ok is false if the ring has not got the packet.
func (s *stamps) age(data []byte, now time.Time) (age time.Duration, ok bool) {
	for i := range frames {
		h, status := s.frame(s.next + i)
		if atomic.LoadUint32(status)&unix.TP_STATUS_USER == 0 {
			return 0, false
		}
		if !s.holds(h, data) {
			continue
		}
		stamp := int64(h.Sec)*1e9 + int64(h.Nsec)
		s.release(i + 1)
		age := time.Duration(now.UnixNano() - stamp)
		return age, s.clock.believes(stamp, now.UnixNano(), int64(now.Sub(s.began)), s.clocks) && age < oldest
	}
	return 0, false
}

// clocks are the wall clock and the monotonic one.
func (s *stamps) clocks() (wall, mono int64) {
	now := time.Now()
	return now.UnixNano(), int64(now.Sub(s.began))
}

func (s *stamps) frame(n int) (h *unix.Tpacket2Hdr, status *uint32) {
	h = (*unix.Tpacket2Hdr)(unsafe.Pointer(&s.ring[n%frames*frameSize]))
	return h, &h.Status
}

// holds tells whether a frame holds the beginning of a packet.
func (s *stamps) holds(h *unix.Tpacket2Hdr, data []byte) bool {
	if int(h.Len) != len(data) {
		return false
	}
	begin := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(h), h.Mac)), h.Snaplen)
	return bytes.HasPrefix(data, begin)
}

// release gives frames back to the kernel.
func (s *stamps) release(n int) {
	for range n {
		_, status := s.frame(s.next)
		atomic.StoreUint32(status, unix.TP_STATUS_KERNEL)
		s.next = (s.next + 1) % frames
	}
}
