package builtin

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// TestSmallestFrames holds the stamp in the smallest frames that there are.
func TestSmallestFrames(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("2001:db8::2")
	for _, c := range []struct {
		to       netip.Addr
		vlan     int
		smallest int
	}{{v4, 0, 64}, {v4, 7, 68}, {v6, 0, 84}, {v6, 7, 88}} {
		h := headers{fromMAC: make(net.HardwareAddr, 6), toMAC: make(net.HardwareAddr, 6), from: c.to, to: c.to, vlan: c.vlan}
		if got := h.smallest(); got != c.smallest {
			t.Errorf("%s, VLAN %d: the smallest frame has %d bytes, want %d", c.to, c.vlan, got, c.smallest)
		}
		if s, err := h.shape(c.smallest); err != nil || int(s.Length) != c.smallest-fcs {
			t.Errorf("%s, VLAN %d: %v", c.to, c.vlan, err)
		}
		if _, err := h.shape(c.smallest - 1); err == nil || !strings.Contains(err.Error(), "too small") {
			t.Errorf("%s, VLAN %d: a smaller one: %v", c.to, c.vlan, err)
		}
	}
}
