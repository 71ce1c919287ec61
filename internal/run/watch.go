package run

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/observe"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/trial"
)

// watchList is what is observed during a trial of a chain.
type watchList struct {
	plan *plan.Plan

	mu    sync.Mutex
	tools map[string][]int
}

func newWatch(p *plan.Plan) *watchList { return &watchList{plan: p, tools: map[string][]int{}} }

func (w *watchList) started(node string, pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tools[node] = append(w.tools[node], pid)
}

func (w *watchList) targets() observe.Targets {
	return observe.Targets{Processes: w.processes, Interfaces: w.interfaces}
}

// processes of the traffic tool and of the chain's functions.
func (w *watchList) processes() map[string][]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string][]int{}
	for node, pids := range w.tools {
		all[node] = append([]int{}, pids...)
	}
	statuses, err := process.Statuses(w.plan.Chain)
	if err != nil {
		return all
	}
	for _, s := range statuses {
		if s.PID != 0 {
			all[s.Node] = append(all[s.Node], s.PID)
		}
	}
	return all
}

// interfaces dumps the counters of every interface of the chain.
func (w *watchList) interfaces(context.Context) ([]trial.InterfaceCounts, error) {
	var all []trial.InterfaceCounts
	for _, n := range w.plan.Nodes {
		counts, err := countersOf(n, w.plan.Chain)
		if err != nil {
			return nil, err
		}
		all = append(all, counts...)
	}
	return all, nil
}

func countersOf(n plan.Node, owner string) ([]trial.InterfaceCounts, error) {
	h, err := netns.Open(n.Namespace)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	mine, err := link.Mine(h, owner)
	if err != nil {
		return nil, err
	}
	links, err := h.LinkList()
	if err != nil {
		return nil, err
	}
	var counts []trial.InterfaceCounts
	for _, l := range links {
		a := l.Attrs()
		if s := a.Statistics; mine[a.Index] != "" && s != nil {
			counts = append(counts, trial.InterfaceCounts{
				Node: n.Name, Interface: a.Name, RxPackets: s.RxPackets, TxPackets: s.TxPackets, RxBytes: s.RxBytes, TxBytes: s.TxBytes,
				RxDropped: s.RxDropped, TxDropped: s.TxDropped, RxErrors: s.RxErrors, TxErrors: s.TxErrors,
			})
		}
	}
	slices.SortFunc(counts, func(a, b trial.InterfaceCounts) int { return strings.Compare(a.Interface, b.Interface) })
	return counts, nil
}

// sameChain tells whether two chains are declared alike.
func sameChain(a, b api.Chain) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
