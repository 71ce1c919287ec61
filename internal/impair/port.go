package impair

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource/tun"
	"nfchain.dev/nfchain/internal/trial"
)

const (
	// longest packet that a device gives.
	longest = tun.MTU
	// burst is how many packets are read before those that are due are sent.
	burst = 64
	// awake is how long before a packet's time the program stops sleeping, because it
	// may be woken late.
	awake = 60 * time.Microsecond
)

// port is a device with the line that its packets go through.
type port struct {
	name   string
	fd     int
	woken  int
	line   *line
	stamps *stamps
	buffer [longest]byte

	// began is what times are counted from.
	began   time.Time
	stopped atomic.Bool
}

func openPort(device string, l *line, woken int) (*port, error) {
	// Watched before it is attached to, so that no packet is missed.
	s, err := openStamps(device)
	if err != nil {
		return nil, err
	}
	fd, err := tun.Attach(device)
	if err != nil {
		s.close()
		return nil, err
	}
	return &port{name: device, fd: fd, woken: woken, line: l, stamps: s, began: time.Now()}, nil
}

func (p *port) close() {
	_ = unix.Close(p.fd)
	p.stamps.close()
}

// run passes packets on until it is stopped.
func (p *port) run() error {
	// Be woken when it was asked for, not up to 50 µs later (prctl(2)).
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for !p.stopped.Load() {
		n, err := p.read()
		if err == nil {
			p.send()
			if n < burst {
				err = p.wait()
			}
		}
		if err != nil {
			return fmt.Errorf("tun device %s: %w", p.name, err)
		}
	}
	return nil
}

// read takes some packets in.
func (p *port) read() (n int, err error) {
	for n < burst {
		size, errno := transfer(unix.SYS_READ, p.fd, p.buffer[:])
		switch {
		case errno == unix.EAGAIN:
			return n, nil
		case errno == unix.EINTR:
			continue
		case errno != 0:
			return n, fmt.Errorf("read: %w", errno)
		}
		n++
		p.take(p.buffer[:size])
	}
	return n, nil
}

// take puts a packet into the line, with the time of its arrival.
func (p *port) take(data []byte) {
	now := time.Now()
	age, stamped := p.stamps.age(data, now)
	if stray(data) {
		return
	}
	if !stamped {
		p.line.counts.Unstamped++
		age = 0
	}
	p.line.arrive(int64(now.Sub(p.began)-age), data)
}

// stray tells whether a packet is the namespace's own, to what it takes for a link:
// those that are redirected to the device go further.
func stray(data []byte) bool {
	switch {
	case len(data) >= 20 && data[0]>>4 == 4:
		return data[16] >= 224
	case len(data) >= 40 && data[0]>>4 == 6:
		return data[24] >= 0xfe
	}
	return true
}

func (p *port) now() int64 { return int64(time.Since(p.began)) }

// send puts packets back whose time has come.
func (p *port) send() {
	now := p.now()
	p.line.giveUp(now)
	for {
		out, due := p.line.leave(now)
		if !due {
			return
		}
		// Late is counted until the kernel is given the packet: whoever receives it may
		// run before the write comes back, and that is not the packet's delay.
		late := uint64(now - out.due) // never before its time
		_, errno := transfer(unix.SYS_WRITE, p.fd, out.data)
		now = p.now()
		if errno != 0 {
			p.line.counts.Refused++
		} else {
			p.line.counts.Left++
			p.line.counts.Late[trial.Bucket(late)]++
		}
		p.line.done(out)
	}
}

// wait sleeps until there is something to do.
func (p *port) wait() error {
	var timeout *unix.Timespec
	if next := p.line.next(); next != never {
		left := next - p.now() - int64(awake)
		if left <= 0 {
			return nil
		}
		t := unix.NsecToTimespec(left)
		timeout = &t
	}
	_, err := unix.Ppoll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}, {Fd: int32(p.woken), Events: unix.POLLIN}}, timeout, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait: %w", err)
	}
	return nil
}

// transfer reads or writes one packet. It never waits, so the scheduler is not told
// of it, which would take longer than a short packet does.
func transfer(call uintptr, fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return int(n), errno
}
