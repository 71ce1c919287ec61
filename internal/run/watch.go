package run

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/observe"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/wiring"
)

// watchList is what is observed during a trial of a chain.
type watchList struct {
	plan *plan.Plan
	// control is what keeps the chain as it is.
	control map[string][]int

	mu    sync.Mutex
	tools map[string][]int
}

func newWatch(p *plan.Plan) *watchList { return &watchList{plan: p, tools: map[string][]int{}} }

// started notes a process of the traffic tool.
func (w *watchList) started(node string, pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tools[node] = append(w.tools[node], pid)
}

func (w *watchList) targets() observe.Targets {
	return observe.Targets{Processes: w.processes, Interfaces: w.interfaces, Fragments: w.fragments}
}

// processes of the traffic tool, those that live in the chain's functions or that
// its wiring has, and those that keep it as it is.
// What else runs in an endpoint is not the chain's.
func (w *watchList) processes() map[string][]int {
	all := map[string][]int{}
	nodes, refs := map[string]string{}, []string{}
	for _, n := range w.plan.Functions() {
		nodes[n.Namespace] = n.Name
		refs = append(refs, n.Namespace)
	}
	own := namespace.Name(w.plan.Chain, plan.WiringNode)
	nodes[own], refs = plan.WiringNode, append(refs, own)
	if found, err := netns.Processes(refs); err == nil {
		for ref, pids := range found {
			all[nodes[ref]] = pids
		}
	}
	maps.Copy(all, w.control)
	w.mu.Lock()
	defer w.mu.Unlock()
	for node, pids := range w.tools {
		all[node] = append(all[node], pids...)
	}
	return all
}

// interfaces dumps the counters of every interface of the chain.
func (w *watchList) interfaces(context.Context) ([]trial.InterfaceCounts, error) {
	var all []trial.InterfaceCounts
	for _, n := range w.plan.Nodes {
		h, err := netns.Open(n.Namespace)
		if err != nil {
			return nil, err
		}
		counts, err := countersOf(n.Name, resource.At(h, w.plan.Chain), ofChain(w.plan, n))
		h.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, counts...)
	}
	return all, nil
}

// ofChain tells a chain's interfaces: made for it or adopted, by their alias, and those that others made for its ends.
func ofChain(p *plan.Plan, n plan.Node) func(*netlink.LinkAttrs) bool {
	return func(a *netlink.LinkAttrs) bool {
		return resource.Owned(a.Alias, p.Chain) || adopted.Owned(a.Alias, p.Chain) || p.Foreign() && a.Name != wiring.Loopback && attachedTo(n, a.Name)
	}
}

// ofAnyChain tells the interfaces that chains have in a standalone function.
func ofAnyChain(a *netlink.LinkAttrs) bool { return resource.Marked(a.Alias) }

// countersOf a node's interfaces, by name.
func countersOf(node string, at resource.Place, counted func(*netlink.LinkAttrs) bool) ([]trial.InterfaceCounts, error) {
	links, err := at.Links()
	if err != nil {
		return nil, err
	}
	counts := []trial.InterfaceCounts{}
	for _, l := range links {
		a := l.Attrs()
		if s := a.Statistics; s != nil && counted(a) {
			counts = append(counts, trial.InterfaceCounts{
				Node: node, Interface: a.Name, RxPackets: s.RxPackets, TxPackets: s.TxPackets, RxBytes: s.RxBytes, TxBytes: s.TxBytes,
				RxDropped: s.RxDropped, TxDropped: s.TxDropped, RxErrors: s.RxErrors, TxErrors: s.TxErrors,
			})
		}
	}
	slices.SortFunc(counts, func(a, b trial.InterfaceCounts) int { return strings.Compare(a.Interface, b.Interface) })
	return counts, nil
}
