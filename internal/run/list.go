package run

import (
	"context"
	"errors"
	"io/fs"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Live is a chain or standalone function of which something is there.
type Live struct {
	Name string `json:"name"`
	// Kind is chain or function.
	Kind string `json:"kind"`
	// State is up, partial when something of it is missing, changed when something
	// is not as planned, failing when all is as planned and some nodes fail, or waiting when a container has not come that another runtime puts in.
	State string `json:"state"`
	// Failing are the nodes with a program that does not run, or is not ready, and those that are watched and have failed.
	Failing   []string `json:"failing,omitempty"`
	Wiring    string   `json:"wiring,omitempty"`
	Functions int      `json:"functions"`
	// Namespaces that are there.
	Namespaces int  `json:"namespaces"`
	Temporary  bool `json:"temporary"`
	// Problem is why it cannot be compared with its plan; it counts as partial then.
	Problem string `json:"problem,omitempty"`
}

// List finds everything that is there and compares it with its plan.
func (h *Host) List(ctx context.Context) ([]Live, error) {
	owners, err := deploy.Owners()
	if err != nil {
		return nil, err
	}
	list := []Live{}
	for _, name := range owners {
		live, err := h.live(ctx, name)
		if err != nil {
			return nil, err
		}
		list = append(list, live)
	}
	return list, nil
}

// LeftContainers is how many containers there are of a chain of which there is no namespace any more, as after the machine was started
// anew.
func LeftContainers(ctx context.Context, name string) int {
	nodes, err := deploy.Nodes(name)
	if err != nil || len(nodes) > 0 {
		return 0
	}
	left, _ := container.Find(ctx, name) // whoever removes them says what is wrong
	return len(left)
}

func (h *Host) live(ctx context.Context, name string) (Live, error) {
	live := Live{Name: name, Kind: "chain", State: StatePartial, Temporary: Temporary(name)}
	if netns.Exists(namespace.Alone(name)) {
		live.Kind = "function"
	}
	nodes, err := deploy.Nodes(name)
	if err != nil {
		return live, err
	}
	live.Namespaces = len(nodes)
	file, err := h.Recall(name)
	if errors.Is(err, fs.ErrNotExist) {
		live.Problem = "what it was made from is no longer known; `nfchain down " + name + "` removes it"
		return live, nil
	}
	if err == nil {
		live.describe(file)
		live.State, live.Failing, err = h.state(ctx, name)
	}
	if ctx.Err() != nil {
		return live, deploy.Interrupted(ctx.Err())
	}
	if err != nil {
		live.State, live.Problem = StatePartial, err.Error()
	}
	return live, nil
}

func (l *Live) describe(file *api.File) {
	if len(file.Functions) > 0 {
		l.Kind, l.Functions = "function", 1
		return
	}
	l.Kind, l.Wiring, l.Functions = "chain", file.Chains[0].Spec.Wiring, len(file.Chains[0].Spec.Functions)
}

// state compares what has this name with its plan, and asks which nodes fail.
func (h *Host) state(ctx context.Context, name string) (state string, bad []string, err error) {
	p, err := h.Made(name)
	if err != nil {
		return "", nil, err
	}
	changes, err := drift(ctx, p)
	if err != nil {
		return "", nil, err
	}
	programs, watched, err := process.Known(name)
	heldStill(p, programs)
	bad = failingOf(p, programs, watched)
	return stateOf(p, total(changes), bad), bad, err
}
