package bridge

import (
	"net"
	"reflect"
	"testing"

	"github.com/vishvananda/netlink"
)

// TestToldOnce: an address that the kernel notes for the port's VLAN too is one that the bridge was told of once,
// and what it learned, or has of its own, it was not told of.
func TestToldOnce(t *testing.T) {
	entry := func(link int, last byte, state, master, vlan int) netlink.Neigh {
		return netlink.Neigh{LinkIndex: link, MasterIndex: master, State: state, Vlan: vlan, HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, last}}
	}
	got := toldIn([]netlink.Neigh{
		entry(3, 2, netlink.NUD_NOARP, 9, 0), entry(3, 2, netlink.NUD_NOARP, 9, 1), entry(3, 1, netlink.NUD_NOARP, 9, 0), // two
		entry(3, 3, netlink.NUD_REACHABLE, 9, 0), entry(3, 4, netlink.NUD_NOARP, 0, 0), entry(4, 5, netlink.NUD_NOARP, 9, 0),
	})
	want := map[int][]string{3: {"02:00:00:00:00:01", "02:00:00:00:00:02"}, 4: {"02:00:00:00:00:05"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
