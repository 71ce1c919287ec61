package run

import (
	"errors"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/traffic/proof"
	"nfchain.dev/nfchain/internal/trial"
)

// TestHandedOn: functions that take packets in the driver must each have handed on as many as the
// proof of path sends, both ways; of others nothing is asked.
func TestHandedOn(t *testing.T) {
	p := &plan.Plan{Nodes: []plan.Node{{Name: "client"}, {Name: "p", Hook: "xdp"}, {Name: "a"}, {Name: "q", Hook: "xdp"}, {Name: "r", Hook: "tc"}, {Name: "server"}}}
	type counts = map[string][2]uint64
	whole := counts{"p": {7 + proof.Rounds, proof.Rounds}, "q": {100, 9 + proof.Rounds}}
	for name, c := range map[string]struct {
		after counts
		want  string
	}{
		"all":         {whole, ""},
		"none":        {counts{"p": {7, 0}, "q": {0, 9}}, "does not pass p, q"},
		"one way":     {counts{"p": whole["p"], "q": {100, 9 + proof.Rounds - 1}}, "q passed 8 and 7 on"},
		"began again": {counts{"p": {3, proof.Rounds}, "q": whole["q"]}, "p passed 0 and 8 on"},
		"no counts":   {counts{}, "does not pass p, q"},
	} {
		err := handedOn(p, nil, trial.UDP, counts{"p": {7, 0}, "q": {0, 9}}, c.after)
		var missed *proof.Error
		if (err == nil) != (c.want == "") || err != nil && (!errors.As(err, &missed) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
