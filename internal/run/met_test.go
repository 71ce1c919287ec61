package run

import (
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/traffic/proof"
)

// TestCameTo a pass: what it counted more than before, no more than a proof sends.
func TestCameTo(t *testing.T) {
	read := func(packets uint64) map[string]*PassState {
		return map[string]*PassState{"p": {Came: Tally{Packets: packets}}}
	}
	at, none := &plan.Taken{Pass: "p"}, map[string]*PassState{}
	for _, c := range []struct {
		at            *plan.Taken
		before, after map[string]*PassState
		want          int
	}{
		{at, read(5), read(5 + proof.Rounds), proof.Rounds}, {at, read(5), read(1000), proof.Rounds}, {at, read(5), read(7), 2},
		{at, read(5), read(4), 0}, {at, none, read(100), 0}, {at, read(5), none, 0}, {nil, none, none, proof.Rounds},
	} {
		if got := cameTo(c.at, c.before, c.after); got != c.want {
			t.Errorf("%+v to %+v: %d, want %d", c.before["p"], c.after["p"], got, c.want)
		}
	}
}
