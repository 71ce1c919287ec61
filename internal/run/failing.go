package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/trace"
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

// Has tells whether a node is among the functions that are watched.
func (w Watched) Has(node string) bool {
	return slices.ContainsFunc(w.functions, func(h process.Health) bool { return h.Node == node })
}

// failing are the functions of a chain past which packets are led, or before which they end, because all their replicas have failed.
func (w Watched) failing(p *plan.Plan) (all []trace.Failing) {
	for _, h := range w.functions {
		i := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == h.Node })
		if i < 0 || h.State != process.Failed || h.OnFailure == process.Replica {
			continue
		}
		f := trace.Failing{Function: p.Nodes[i].Function(), Why: failingText(h), Blocks: h.OnFailure == process.Block}
		well := slices.ContainsFunc(w.functions, func(h process.Health) bool {
			return h.State != process.Failed && slices.ContainsFunc(p.Nodes, func(n plan.Node) bool { return n.Name == h.Node && n.Function() == f.Function })
		})
		if !well {
			all = append(all, f)
		}
	}
	return all
}

// failingText says of a function that has failed why, and what its file says of packets meanwhile.
func failingText(h process.Health) string {
	return fmt.Sprintf("%s has failed (%s), and has onFailure: %s", h.Node, h.Reason, h.OnFailure)
}

// Failing tells of each function that has failed, and what its file says of packets meanwhile.
func (w Watched) Failing() (all []string) {
	for _, h := range w.functions {
		if h.State == process.Failed {
			all = append(all, failingText(h))
		}
	}
	return all
}

// longestUnwell is how long a function that is watched and has failed is given to come back before its chain is measured. What was made good again
// is put back when some probes have come through it, which an idle chain has one of a second.
const longestUnwell = 10 * time.Second

// untilWell waits until no function of a chain has failed, and tells of those that have at the end.
func untilWell(ctx context.Context, chain string) ([]string, error) {
	for began := time.Now(); ; {
		w, err := OnWatch(chain)
		failing := w.Failing()
		if err != nil || len(failing) == 0 || time.Since(began) > longestUnwell {
			return failing, err
		}
		select {
		case <-ctx.Done():
			return failing, ctx.Err()
		case <-time.After(longestLook):
		}
	}
}

// because adds to an error which functions of a chain have failed.
func because(err error, chain string) error {
	w, wrong := OnWatch(chain)
	if failing := w.Failing(); wrong == nil && len(failing) > 0 {
		return fmt.Errorf("%w; %s", err, strings.Join(failing, "; "))
	}
	return err
}
