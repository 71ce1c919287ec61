package netns_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestBindable: who has a port at an address, or at all, keeps others from it there, over the same protocol; and which process that is is told.
func TestBindable(t *testing.T) {
	nstest.Root(t)
	name := nstest.Namespace(t)
	h := nstest.Open(t, name)
	lo, err := h.LinkByName("lo")
	if err == nil {
		err = h.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	self := strings.TrimSpace(string(text))
	for _, had := range []struct{ network, at string }{
		{"tcp4", "127.0.0.2:7"}, {"tcp4", "0.0.0.0:8"}, {"tcp", ":9"}, {"udp4", "127.0.0.2:10"}, {"udp", ":11"}, {"tcp6", "[::]:12"},
	} {
		var c interface{ Close() error }
		err := netns.Do(name, func() (err error) {
			var config net.ListenConfig
			if had.network[0] == 't' {
				c, err = config.Listen(context.Background(), had.network, had.at)
			} else {
				c, err = config.ListenPacket(context.Background(), had.network, had.at)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	for _, c := range []struct {
		protocol, at string
		port         uint16
		free         bool
	}{
		{"tcp", "127.0.0.2", 7, false}, {"tcp", "127.0.0.3", 7, true}, {"udp", "127.0.0.2", 7, true}, {"tcp", "", 7, true}, {"tcp", "127.0.0.2", 9, false}, {"tcp", "127.0.0.2", 12, true}, {"tcp", "127.0.0.2", 13, true},
		{"tcp", "198.51.100.1", 8, false}, {"tcp", "", 8, false}, {"udp", "", 8, true},
		{"udp", "127.0.0.2", 10, false}, {"udp", "", 10, true}, {"udp", "198.51.100.1", 11, false}, {"tcp", "", 11, true},
	} {
		at := netip.AddrPortFrom(netip.Addr{}, c.port)
		if c.at != "" {
			at = netip.AddrPortFrom(netip.MustParseAddr(c.at), c.port)
		}
		for range 2 { // asking takes nothing
			if free, err := netns.Bindable(name, c.protocol, at); err != nil || free != c.free {
				t.Errorf("%s at %q, port %d: %v, %v", c.protocol, c.at, c.port, free, err)
			}
		}
		pid, who := netns.Binder(name, c.protocol, at)
		if want := os.Getpid(); !c.free && (pid != want || who != self) {
			t.Errorf("%s at %q, port %d: process %d, %q", c.protocol, c.at, c.port, pid, who)
		}
	}
}
