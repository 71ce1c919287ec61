package watch

import "nfchain.dev/nfchain/internal/resource/process"

// blocked stands for a port where packets end.
const blocked = "-"

// turned gives, for each port, the one that its packets go to because of nodes that have failed;
// "" for the one that is planned.
func turned(nodes []process.Watched, failed func(node int) bool) map[string]string {
	ways := map[string]string{}
	for i, n := range nodes {
		if n.East != "" {
			ways[n.East] = beyond(nodes, failed, i, 1)
		}
		if n.West != "" {
			ways[n.West] = beyond(nodes, failed, i, -1)
		}
	}
	return ways
}

// beyond a node in a direction: the port of the first one to which packets can go.
func beyond(nodes []process.Watched, failed func(int) bool, from, step int) string {
	to := from + step
	for ; failed(to); to += step { // the ends are not watched, and do not fail
		if nodes[to].OnFailure == process.Block {
			return blocked
		}
	}
	switch {
	case to == from+step:
		return ""
	case step > 0:
		return nodes[to].West
	}
	return nodes[to].East
}
