package run_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// ends of a chain, one way.
type ends struct {
	fromNetns, toNetns string
	address            netip.Addr
}

func (b *bed) ends(way string, family int) ends {
	b.Helper()
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		b.Fatal(err)
	}
	client, server := p.Client(), p.Server()
	if way == "reverse" {
		return ends{server.Namespace, client.Namespace, client.East.Addresses[family]}
	}
	return ends{client.Namespace, server.Namespace, server.West.Addresses[family]}
}

// talk sends numbered packets over a chain.
type talk struct {
	testing.TB
	from, to *net.UDPConn
}

func (b *bed) talk(way string, family int) *talk {
	b.Helper()
	return b.talkTo(way, family, 0, 0)
}

// talkTo a port of the receiver's, which listens at another that differs from it by some bits; 0 is one that the kernel chooses.
func (b *bed) talkTo(way string, family int, port, differs uint16) *talk {
	b.Helper()
	e := b.ends(way, family)
	k := &talk{TB: b}
	err := netns.Do(e.toNetns, func() (err error) {
		k.to, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(e.address, port^differs)))
		return err
	})
	if err == nil {
		err = netns.Do(e.fromNetns, func() (err error) {
			at := k.to.LocalAddr().(*net.UDPAddr).AddrPort()
			k.from, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(at.Addr(), at.Port()^differs)))
			return err
		})
	}
	if err == nil {
		err = k.holdMuch()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(k.close)
	return k
}

// holdMuch has the socket hold what comes while a busy machine does not read it: more than the machine gives who merely asks.
func (k *talk) holdMuch() error {
	raw, err := k.to.SyscallConn()
	if err != nil {
		return err
	}
	wrong := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 8<<20) })
	return errors.Join(wrong, err)
}

func (k *talk) close() { _, _ = k.from.Close(), k.to.Close() }

func (k *talk) send(first, n int) {
	for i := range n {
		if _, err := k.from.Write(binary.BigEndian.AppendUint32(nil, uint32(first+i))); err != nil {
			k.Fatal(err)
		}
	}
}

// receive reads so many packets and gives their numbers.
func (k *talk) receive(n uint64) []int {
	k.Helper()
	got, err := k.received(n)
	if err != nil {
		k.Fatal(err)
	}
	return got
}

func (k *talk) received(n uint64) (got []int, err error) {
	b := make([]byte, 100)
	for range n {
		_ = k.to.SetReadDeadline(time.Now().Add(time.Minute))
		size, err := k.to.Read(b)
		if err == nil && size != 4 {
			err = errors.New("not a number")
		}
		if err != nil {
			return got, fmt.Errorf("after %d packets of %d: %d bytes, %w", len(got), n, size, err)
		}
		got = append(got, int(binary.BigEndian.Uint32(b)))
	}
	return got, nil
}

// window is how many packets are on their way at once, so that none is lost by
// chance.
const window = 200

// numbered sends packets and gives the numbers of those that came, in order.
func (b *bed) numbered(way string, family, n int) (got []int) {
	b.Helper()
	k := b.talk(way, family)
	defer k.close()
	before := b.did()[way]
	if before.Direction == "" { // nothing is done to them
		return b.undone(k, way, family, n)
	}
	for sent := 0; sent < n; {
		size := min(window, n-sent)
		k.send(sent, size)
		sent += size
		last := before
		b.until("all is counted", func() bool {
			last = b.did()[way]
			return last.Seen-before.Seen >= uint64(sent) && (sent < n || inFlight(last) == 0)
		})
		if sent == n {
			return append(got, k.receive(last.Left-before.Left-uint64(len(got)))...)
		}
	}
	return got
}

// undone sends packets to which nothing is done; all are to come. Where some are lost while the kernel drops some, which another test may
// have it do, others are sent.
func (b *bed) undone(k *talk, way string, family, n int) (got []int) {
	b.Helper()
	for {
		dropped := nstest.Dropped(b)
		k.send(0, n)
		got, err := k.received(uint64(n))
		if err == nil {
			return got
		}
		if nstest.Dropped(b) == dropped {
			b.Fatal(err)
		}
		k.close()
		k = b.talk(way, family)
	}
}

// carrier tells whether anybody reads a device of the function.
func (b *bed) carrier(device string) bool {
	b.Helper()
	h, err := netns.Open(namespace.Name(b.name(), "bad"))
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	l, err := h.LinkByName(device)
	if err != nil {
		b.Fatal(err)
	}
	return l.Attrs().RawFlags&unix.IFF_LOWER_UP != 0
}

// watcher is a packet socket with the kernel's times of packets.
type watcher struct {
	testing.TB
	fd int
	// at is when packets passed, by their number.
	at map[int]time.Time
}

func (b *bed) watcher(device string) *watcher {
	b.Helper()
	w := &watcher{TB: b, at: map[int]time.Time{}}
	err := netns.Do(namespace.Name(b.name(), "bad"), func() error {
		dev, err := net.InterfaceByName(device)
		if err != nil {
			return err
		}
		if w.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		if err := unix.SetsockoptInt(w.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			return err
		}
		return unix.Bind(w.fd, &unix.SockaddrLinklayer{Protocol: binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL}), Ifindex: dev.Index})
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = unix.Close(w.fd) })
	return w
}

// numberedSize of a packet: headers of IPv4 and UDP, and its number.
const numberedSize = 20 + 8 + 4

// drain notes which packets have passed.
func (w *watcher) drain() {
	data, control := make([]byte, 200), make([]byte, 64)
	for {
		n, cn, _, _, err := unix.Recvmsg(w.fd, data, control, 0)
		if err != nil {
			return
		}
		messages, err := unix.ParseSocketControlMessage(control[:cn])
		if err != nil || len(messages) != 1 || n != numberedSize {
			continue
		}
		at := (*unix.Timespec)(unsafe.Pointer(&messages[0].Data[0]))
		w.at[int(binary.BigEndian.Uint32(data[n-4:n]))] = time.Unix(at.Sec, at.Nsec)
	}
}

// residence is how long the function held each of n packets, by the kernel's times of
// their coming and going.
func (b *bed) residence(n int) (held []time.Duration) {
	b.Helper()
	in, out := b.watcher("eth0"), b.watcher("eth1")
	k := b.talk("forward", 0)
	number := 0
	next := func() {
		k.send(number, 1)
		k.receive(1)
		in.drain()
		out.drain()
		number++
	}
	// The kernel begins to stamp packets a while after it was asked to; until then they
	// have the time at which they are read.
	b.until("packets are stamped", func() bool {
		next()
		at, passed := in.at[number-1]
		return passed && time.Since(at) > time.Millisecond
	})
	first := number
	for range n {
		next()
	}
	for i := first; i < number; i++ {
		if in.at[i].IsZero() || out.at[i].IsZero() {
			b.Fatalf("packet %d was not seen coming and going", i)
		}
		held = append(held, out.at[i].Sub(in.at[i]))
	}
	return held
}
