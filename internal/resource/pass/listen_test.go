package pass

import (
	"context"
	"errors"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/resource"
)

// TestHearsAgain: who is interrupted while a NAT hears answers ends at once, with the pass of answers there and the other not, and whoever
// comes next hears first, too. Where the NAT is there nobody hears any more.
func TestHearsAgain(t *testing.T) {
	p := pairIn(t, place(t), "eth1", "far1")
	n := everyKind()
	forth, back := translating("eth0", n, false), translating("eth1", n, true)
	heard, aside := 0, ""
	put := func(refuses error, specs ...Spec) error {
		heard = 0
		var changes []resource.Change
		for _, s := range specs {
			changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
		}
		return Kind{Listens: true, Aside: func(device string) bool { return device == aside }, Pause: func(while time.Duration) (time.Duration, error) {
			heard++
			if refuses != nil {
				return 0, refuses
			}
			time.Sleep(while)
			return 0, nil
		}}.Apply(p, changes)
	}
	if err := put(context.Canceled, back, forth); !errors.Is(err, context.Canceled) || heard != 1 {
		t.Fatalf("interrupted: error %v, after %d pauses", err, heard)
	}
	readsBack(t, p, back)
	if _, there, err := CountAt(p, "eth0"); there || err != nil {
		t.Errorf("it translates already: %v, %v", there, err)
	}
	if err := put(nil, forth); err != nil || heard < 2 {
		t.Errorf("whoever comes next hears %d times, error %v", heard, err)
	}
	readsBack(t, p, forth, back)
	forth.Connections *= 2
	if err := put(nil, forth); err != nil || heard != 0 {
		t.Errorf("where the NAT is there, it hears %d times, error %v", heard, err)
	}
	elsewhere := translating("far1", n, false)
	aside = "eth0"
	if err := put(nil, elsewhere); err != nil || heard < 2 {
		t.Errorf("where only what goes on as it did comes by the NAT, it hears %d times, error %v", heard, err)
	}
	aside = ""
	elsewhere.Connections *= 2
	if err := put(nil, elsewhere); err != nil || heard != 0 {
		t.Errorf("where the NAT has come anew, it hears %d times, error %v", heard, err)
	}
}
