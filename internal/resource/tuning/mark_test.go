package tuning

import (
	"maps"
	"testing"

	"github.com/vishvananda/netlink"
)

// TestMarksAreReadBack: what a knob was is read as it was, of however many words or numbers.
func TestMarksAreReadBack(t *testing.T) {
	was := mark{"gr": on, "gs": off, "mt": None, "tc": "0,2,4-7", "cc": "cubic reno"}
	l := &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: "eth0", AltNames: []string{was.name("eth0")}}}
	if got := markOf(l); !maps.Equal(got, was) {
		t.Errorf("%s is read as %v", was.name("eth0"), got)
	}
}
