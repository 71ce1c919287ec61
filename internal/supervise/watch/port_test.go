package watch

import (
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestUnsure: what cannot be read is not taken for gone, and what is gone is told.
func TestUnsure(t *testing.T) {
	h, err := netns.Open(nstest.Namespace(t))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	gone := &port{name: "port"}
	if err := gone.open(resource.At(h, "nobody"), nil); err != nil || !gone.gone {
		t.Errorf("of a port that is not there: gone %v, error %v", gone.gone, err)
	}
	bare := &port{name: "lo"}
	if err := bare.open(resource.At(h, "nobody"), nil); err != nil || !bare.gone {
		t.Errorf("of a port that nothing steers: gone %v, error %v", bare.gone, err)
	}
	shut := *h
	shut.Ref = "nobodys" // it cannot be entered
	held := &port{name: "lo", steer: &steer.Port{}}
	if err := held.open(resource.At(&shut, "nobody"), nil); err == nil || held.gone || held.steer == nil {
		t.Errorf("of a port that could not be looked at: gone %v, held %v, error %v", held.gone, held.steer, err)
	}
}
