package run

import (
	"fmt"

	"nfchain.dev/nfchain/internal/resource/process"
)

// Watched tells what who looks at a chain's packets must know of functions that are watched: that probes are
// among them, and which functions packets do not go through at present.
type Watched struct{ functions []process.Health }

// OnWatch is what is known of the functions of a chain that are watched, none where nobody watches.
func OnWatch(chain string) (Watched, error) {
	_, functions, err := process.OnWatch(chain)
	return Watched{functions}, err
}

// Any tells whether probes are sent.
func (w Watched) Any() bool { return len(w.functions) > 0 }

// Failing tells of each function that has failed, and what its file says of packets meanwhile.
func (w Watched) Failing() (all []string) {
	for _, h := range w.functions {
		if h.State == process.Failed {
			all = append(all, fmt.Sprintf("%s has failed (%s), and has onFailure: %s", h.Node, h.Reason, h.OnFailure))
		}
	}
	return all
}
