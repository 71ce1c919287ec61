package run

import (
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/observe"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// fragments are what the namespaces of the chain's ends counted. In the host's own
// everybody's packets count, so nothing is told of that.
func (w *watchList) fragments() (all []trial.FragmentCounts, err error) {
	for _, n := range []plan.Node{w.plan.Client(), w.plan.Server()} {
		if n.Namespace == netns.Host {
			continue
		}
		var counts trial.FragmentCounts
		err := netns.Do(n.Namespace, func() error {
			counts = observe.Fragments("")
			return nil
		})
		if err != nil {
			return nil, err
		}
		counts.Node = n.Name
		all = append(all, counts)
	}
	return all, nil
}

// fragmented adds to the metrics of datagrams what became of them as packets: how many
// fragments the sender made, into how many each datagram was cut that was, and how many
// the receiver put together and gave up. Frames that a tool makes itself are none of
// that, and of several chains the counts are of one.
func fragmented(metrics map[string]float64, c trial.Condition, tool traffic.Tool, seen []trial.FragmentCounts) {
	if c.Protocol != trial.UDP || c.ActiveChains > 1 || makesFrames(tool) || metrics == nil || len(seen) != 2 {
		return
	}
	sent, received := seen[0], seen[1]
	metrics["fragments_created"] = float64(sent.Created)
	metrics["datagrams_reassembled"] = float64(received.Reassembled)
	metrics["reassemblies_failed"] = float64(received.Failed)
	if sent.Fragmented > 0 {
		metrics["fragments_per_datagram"] = float64(sent.Created) / float64(sent.Fragmented)
	}
}
