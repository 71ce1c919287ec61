package watch

import (
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// What stands for a port.
const (
	blocked = "-" // packets end
	shared  = "+" // they go to one of several replicas
)

// seats of a path in its order: the numbers of the nodes that are one function.
func seats(nodes []process.Watched) (all [][]int) {
	for i, n := range nodes {
		if last := len(all) - 1; i > 0 && n.Of != "" && nodes[i-1].Of == n.Of {
			all[last] = append(all[last], i)
			continue
		}
		all = append(all, []int{i})
	}
	return all
}

// course of what comes in at a port.
type course struct {
	// to is the port that packets go to, blocked or shared; "" for the one that is planned.
	to string
	// among are the nodes that they are shared out over, none where they go to one alone,
	// and failing those of them, by their numbers, to which none go.
	among   []int
	failing steer.Numbers
}

// led tells whether packets go elsewhere than planned at any port.
func led(all ...map[string]course) bool {
	for _, courses := range all {
		for _, to := range courses {
			if to.to != "" {
				return true
			}
		}
	}
	return false
}

// turned gives, for each port, where its packets go because of nodes that have failed.
func turned(nodes []process.Watched, failed func(node int) bool) map[string]course {
	courses, all := map[string]course{}, seats(nodes)
	for at, seat := range all {
		for _, i := range seat {
			n := nodes[i]
			for _, east := range []string{n.East, n.PastEast} {
				if east != "" {
					courses[east] = beyond(nodes, all, failed, at, 1)
				}
			}
			for _, west := range []string{n.West, n.PastWest} {
				if west != "" {
					courses[west] = beyond(nodes, all, failed, at, -1)
				}
			}
		}
	}
	return courses
}

// beyond a seat in a direction: the first one to which packets can go.
func beyond(nodes []process.Watched, all [][]int, failed func(int) bool, from, step int) (c course) {
	planned := visited(nodes, all, from, step)
	to := planned
	for ; lost(all[to], failed); to = visited(nodes, all, to, step) { // the ends are not watched, and do not fail
		switch first := nodes[all[to][0]]; first.OnFailure {
		case process.Block:
			return course{to: blocked}
		case process.Bypass:
			if past := pastOf(first, step); past != "" {
				return course{to: past}
			}
			continue
		}
		break
	}
	first := nodes[all[to][0]]
	if first.Of != "" {
		c.among, c.failing = all[to], failing(nodes, all[to], failed)
	}
	switch {
	case to == planned:
		return c
	case first.Of != "":
		c.to = shared
	case step > 0:
		c.to = first.West
	default:
		c.to = first.East
	}
	return c
}

// pastOf a node in a direction packets are sent by this port, from which they go on as they would from the node; "" where they go to
// the one behind it at once.
func pastOf(n process.Watched, step int) string {
	if step > 0 {
		return n.PastWest
	}
	return n.PastEast
}

// visited is the seat that packets come to from another in a direction, by plan. Back they go past what is one-way.
func visited(nodes []process.Watched, all [][]int, from, step int) int {
	to := from + step
	for step < 0 && nodes[all[to][0]].OneWay {
		to += step
	}
	return to
}

// lost tells whether all nodes of a seat have failed.
func lost(seat []int, failed func(int) bool) bool {
	for _, i := range seat {
		if !failed(i) {
			return false
		}
	}
	return true
}

// failing are those nodes of a seat, unless they are all: then one is as good as another.
func failing(nodes []process.Watched, seat []int, failed func(int) bool) (which steer.Numbers) {
	if lost(seat, failed) {
		return 0
	}
	for _, i := range seat {
		if failed(i) {
			which |= steer.Number(nodes[i].Number)
		}
	}
	return which
}
