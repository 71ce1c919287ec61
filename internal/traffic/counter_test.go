package traffic_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
)

// TestCounts sends packets of each kind, of which each counter counts its own.
func TestCounts(t *testing.T) {
	for _, ipv4 := range []bool{true, false} {
		e := bench(t, ipv4)
		plain := counting(t, e, traffic.Arrivals{IPv6: !ipv4, Port: 4000})
		tagged := counting(t, e, traffic.Arrivals{IPv6: !ipv4, Port: 4000, VLAN: 7})
		foreign := counting(t, e, traffic.Arrivals{IPv6: ipv4, Port: 4000})
		for range 3 {
			datagram(t, e, 4000)
			datagram(t, e, 4001)
		}
		for vlan := range 10 {
			frame(t, e, frameTo(e.Address, vlan, 4000))
		}
		frame(t, e, frameTo(e.Address, 7, 4001))
		reaches(t, plain, 3+1) // the frame without a tag, which VLAN 0 stands for
		reaches(t, tagged, 1)
		if n, err := foreign.Read(); n != 0 || err != nil {
			t.Errorf("%d packets of the other family, %v", n, err)
		}
	}
}

func TestCountsNowhere(t *testing.T) {
	if _, err := traffic.Count("no-such-namespace", traffic.Arrivals{Port: 1}); err == nil {
		t.Error("counts in a namespace that is not there")
	}
}

func bench(t *testing.T, ipv4 bool) traffic.Ends {
	t.Helper()
	nstest.Root(t)
	e, done, err := traffic.Workbench(ipv4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	for _, ref := range []string{e.ClientNetns, e.ServerNetns} {
		nstest.Carries(t, nstest.Open(t, ref), "veth0")
	}
	return e
}

func counting(t *testing.T, e traffic.Ends, a traffic.Arrivals) *traffic.Counter {
	t.Helper()
	c, err := traffic.Count(e.ServerNetns, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// reaches waits until so many were counted, and no more.
func reaches(t *testing.T, c *traffic.Counter, want uint64) {
	t.Helper()
	var n uint64
	for deadline := time.Now().Add(time.Minute); n < want && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var err error
		if n, err = c.Read(); err != nil {
			t.Fatal(err)
		}
	}
	if n != want {
		t.Errorf("%d packets were counted, not %d", n, want)
	}
}

func datagram(t *testing.T, e traffic.Ends, port uint16) {
	t.Helper()
	err := netns.Do(e.ClientNetns, func() error {
		c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(e.Address, port)))
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, err = c.Write([]byte("datagram"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// frame sends a whole frame.
func frame(t *testing.T, e traffic.Ends, b []byte) {
	t.Helper()
	h := nstest.Open(t, e.ClientNetns)
	l, err := h.LinkByName("veth0")
	if err != nil {
		t.Fatal(err)
	}
	err = h.Do(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return unix.Sendto(fd, b, 0, &unix.SockaddrLinklayer{Ifindex: l.Attrs().Index})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// frameTo the far end of a workbench, with a tag unless the VLAN is 0. Its lengths and
// checksums are left out: nothing takes it but the counter.
func frameTo(to netip.Addr, vlan int, port uint16) []byte {
	b := []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}
	if vlan > 0 {
		b = append(b, 0x81, 0, 0, byte(vlan))
	}
	if to.Is4() {
		b = append(append(b, 8, 0, 0x45), make([]byte, 8)...)
		b = append(append(b, unix.IPPROTO_UDP), make([]byte, 10)...)
	} else {
		b = append(append(b, 0x86, 0xdd, 0x60), make([]byte, 5)...)
		b = append(append(b, unix.IPPROTO_UDP), make([]byte, 33)...)
	}
	return append(append(b, 0, 9, byte(port>>8), byte(port)), make([]byte, 20)...)
}
