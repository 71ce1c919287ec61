package run

import (
	"cmp"
	"context"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// The states of a chain, a standalone function or a node, by comparison with its
// plan.
const (
	StateUp      = "up"
	StatePartial = "partial" // something is missing
	StateChanged = "changed" // nothing is missing, but something is not as planned
	StateMissing = "missing" // a node without its namespace
	StateWaiting = "waiting" // all is as planned, and another runtime has not put a container in yet
	StateFailing = "failing" // all is as planned, and a program does not run or is not ready, or a function that is watched has failed
)

// Drift is how what is there differs from its plan, by the IDs of resources.
type Drift struct {
	Missing []string `json:"missing"`
	// Differs is there, but not as planned.
	Differs []string `json:"differs"`
	// Surplus is there and not planned.
	Surplus []string `json:"surplus"`
	// Unwatched tells that nobody watches over the functions any more that are to be watched.
	Unwatched bool `json:"unwatched,omitempty"`
}

func noDrift() Drift { return Drift{Missing: []string{}, Differs: []string{}, Surplus: []string{}} }

// State by the drift.
func (d Drift) State() string {
	switch {
	case len(d.Missing) > 0:
		return StatePartial
	case len(d.Differs)+len(d.Surplus) > 0:
		return StateChanged
	}
	return StateUp
}

// stateOf a chain or function as a whole, of which these nodes fail.
func stateOf(p *plan.Plan, d Drift, failing []string) string {
	switch state := d.State(); {
	case state != StateUp:
		return state
	case len(failing) > 0:
		return StateFailing
	case len(p.Waiting()) > 0:
		return StateWaiting
	}
	return StateUp
}

func (d *Drift) add(c resource.Change) {
	switch c.Op {
	case resource.Create:
		d.Missing = append(d.Missing, c.ID)
	case resource.Update:
		d.Differs = append(d.Differs, c.ID)
		d.Unwatched = d.Unwatched || c.Was == health.Unwatched
	case resource.Delete:
		d.Surplus = append(d.Surplus, c.ID)
	}
}

// drift compares what is there with a plan, as `up --dry-run` does.
func drift(ctx context.Context, p *plan.Plan) ([]resource.Change, error) {
	return (&deploy.Deployer{DryRun: true}).Up(ctx, p)
}

// total is the drift of all nodes together.
func total(changes []resource.Change) Drift {
	d := noDrift()
	for _, c := range changes {
		d.add(c)
	}
	return d
}

// concerned is the index of the node that a change is of, or -1.
func concerned(p *plan.Plan, c resource.Change) int {
	for i, n := range p.Nodes {
		switch {
		case c.Kind == namespace.KindName:
			if c.Key == n.Namespace {
				return i
			}
		case c.Kind == container.KindName:
			if c.Key == cmp.Or(n.Namespace, namespace.Name(p.Chain, n.Name)) {
				return i
			}
		case c.Kind == process.KindName, c.Kind == container.NamesKindName:
			if n.Has(c.Key) {
				return i
			}
		case c.Kind == adopted.KindName:
			if spec, ok := c.Spec.(adopted.Spec); ok && spec.Into == n.Namespace {
				return i
			}
		case c.Namespace != netns.Host && c.Namespace == n.Namespace:
			return i
		}
	}
	return -1
}
