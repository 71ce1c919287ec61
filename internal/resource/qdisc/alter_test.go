package qdisc_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/qdisc"
)

// send frames from an interface of a place.
func send(t *testing.T, p resource.Place, device string, many int) {
	t.Helper()
	l, err := p.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	err = netns.Do(p.Ref, func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		frame := make([]byte, 1000)
		copy(frame, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5}) // an EtherType for experiments (IEEE 802)
		for range many {
			if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: l.Attrs().Index, Halen: 6}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// left is how many packets an interface has sent.
func left(t *testing.T, p resource.Place, device string) uint64 {
	t.Helper()
	l, err := p.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Statistics.TxPackets
}

// TestAltered disciplines keep the packets that wait in them, and are as one that is made anew, also where some of it can only be that.
func TestAltered(t *testing.T) {
	const slow, fast, many = 80_000, 1_000_000_000, 40 // 10 kB, and 125 MB, a second
	roomy := func(rate uint64) qdisc.Spec {
		s := tbf(rate, 16<<10)
		s.Classes[0].LimitBytes = 1 << 20
		return s
	}
	delayed := func(i qdisc.Impair) qdisc.Spec {
		i.LimitPackets = 1000
		return qdisc.Spec{Device: "eth0", Discipline: qdisc.Netem, Impair: &i}
	}
	two, burst := htb(slow, 16<<10), qdisc.Burst(fast, 128<<10)
	two.Classes = append(two.Classes, qdisc.Class{Minor: 2, RateBps: fast, CeilBps: fast, BurstBytes: burst, CeilBurstBytes: burst})
	other := two
	other.Default = 2
	for _, c := range []struct {
		name    string
		was, is qdisc.Spec
		keeps   bool
	}{
		{"tbf", roomy(slow), roomy(fast), true},
		{"htb", htb(slow, 16<<10), htb(fast, 128<<10), true},
		{"a class more", htb(slow, 16<<10), func() qdisc.Spec {
			s := htb(fast, 128<<10)
			s.Classes = append(s.Classes, two.Classes[1])
			return s
		}(), true},
		{"netem", delayed(qdisc.Impair{DelayNS: 2e9}), delayed(qdisc.Impair{DelayNS: 1e6, Duplicate: 0.001}), true},
		{"netem without", delayed(qdisc.Impair{DelayNS: 2e9, JitterNS: 1e6, Loss: 1e-9}), delayed(qdisc.Impair{DelayNS: 1e6}), true},
		{"another default", two, other, false},
		{"a class less", two, htb(fast, 16<<10), false},
		{"another discipline", roomy(slow), htb(fast, 16<<10), false},
		{"and another", htb(slow, 16<<10), delayed(qdisc.Impair{DelayNS: 1e6}), false},
		{"and back", delayed(qdisc.Impair{DelayNS: 2e9}), roomy(fast), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.was.Impair != nil || c.is.Impair != nil {
				nstest.Require(t, feature.QdiscNetem)
			}
			p := place(t)
			for _, name := range []string{"eth0", "eth0p"} {
				l, err := p.LinkByName(name)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.LinkSetUp(l); err != nil {
					t.Fatal(err)
				}
			}
			apply(t, p, resource.Create, c.was)
			before := left(t, p, "eth0")
			send(t, p, "eth0", many)
			if sent := left(t, p, "eth0") - before; sent >= many/2+16 {
				t.Fatalf("%d of %d packets did not wait", sent, many)
			}
			apply(t, p, resource.Update, c.is)
			readsBack(t, p, c.is)
			if !c.keeps {
				return
			}
			for deadline := time.Now().Add(20 * time.Second); left(t, p, "eth0")-before < many; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("of %d packets %d left", many, left(t, p, "eth0")-before)
				}
			}
		})
	}
}
