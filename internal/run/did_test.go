package run

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource/pass"
)

// TestDidKnowsEveryAct, so that no step is told without a word.
func TestDidKnowsEveryAct(t *testing.T) {
	for act := pass.Count; !strings.HasPrefix(act.String(), "act "); act++ {
		if did[act.String()] == "" {
			t.Errorf("there is no word for what %s did", act)
		}
	}
}
