package watch

import (
	"errors"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// post sends probes through functions, all that there are by one system call.
type post struct {
	ways     []*way
	payloads []payload
	// What the kernel reads: a header for each, which has where it goes and what it is.
	headers []header
	to      []unix.RawSockaddrLinklayer
	bytes   []unix.Iovec
}

// header is struct mmsghdr (sendmmsg(2)).
type header struct {
	unix.Msghdr
	_ uint32
}

// put a probe there, which is sent by a port into a function.
func (p *post) put(v *way, what payload, port int) {
	p.ways, p.payloads = append(p.ways, v), append(p.payloads, what)
	p.to = append(p.to, unix.RawSockaddrLinklayer{Family: unix.AF_PACKET, Ifindex: int32(port)})
}

// send what is there, and tell of each that could not be.
func (p *post) send(socket int, failed func(*way, error)) {
	if len(p.ways) == 0 {
		return
	}
	p.write()
	for at := 0; at < len(p.ways); {
		n, err := sendAll(socket, p.headers[at:])
		if err != nil && !errors.Is(err, unix.EINTR) {
			failed(p.ways[at], err)
			n = 1
		}
		at += n
	}
	p.ways, p.payloads, p.to = p.ways[:0], p.payloads[:0], p.to[:0]
}

// write the probes, all at one time, and what the kernel reads.
func (p *post) write() {
	p.headers, p.bytes = slices.Grow(p.headers[:0], len(p.ways)), slices.Grow(p.bytes[:0], len(p.ways)) // none is moved
	sent := monotonic()
	for i, v := range p.ways {
		p.payloads[i].SentNS = sent
		frame := v.frame.with(p.payloads[i])
		p.bytes = append(p.bytes, unix.Iovec{Base: &frame[0]})
		p.bytes[i].SetLen(len(frame))
		h := header{Msghdr: unix.Msghdr{Name: (*byte)(unsafe.Pointer(&p.to[i])), Namelen: unix.SizeofSockaddrLinklayer, Iov: &p.bytes[i]}}
		h.SetIovlen(1)
		p.headers = append(p.headers, h)
	}
}

// monotonic is the time by the clock of the programs that take probes out, in ns.
func monotonic() uint64 {
	var now unix.Timespec
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&now)), 0) // there always is this one
	return uint64(now.Nano())
}

// sendAll by sendmmsg(2), which tells how many were sent: the next one could not be, and says why when it is the
// first.
func sendAll(socket int, all []header) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(socket), uintptr(unsafe.Pointer(&all[0])), uintptr(len(all)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
