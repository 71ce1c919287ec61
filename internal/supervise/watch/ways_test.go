package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// graph of nodes in order, each with what becomes of packets when it fails, and where it leads, the planned one first: "a bypass b c".
func graph(nodes ...string) (all []process.Watched) {
	place := map[string]int{"server": len(nodes)}
	for i, text := range nodes {
		place[strings.Fields(text)[0]] = i
	}
	for i, text := range append(nodes, "server -") {
		words := strings.Fields(text)
		n := process.Watched{Node: words[0], West: "<" + words[0], East: words[0] + ">", OnFailure: strings.Trim(words[1], "-"), Label: uint32(i + 1)}
		for _, to := range words[2:] {
			n.Onward = append(n.Onward, place[to])
		}
		all = append(all, n)
	}
	for i, n := range all {
		for _, to := range n.Onward {
			all[to].Back = append(all[to].Back, i)
		}
	}
	return all
}

// TestAround: what ports are told of nodes while some fail, and where those lead that lead to one.
func TestAround(t *testing.T) {
	ladder := graph("client - a", "a bypass b c", "b bypass d", "c block d", "d bypass server", "e - server")
	far := make([]string, 0, 60)
	for i := range 60 { // each leads past two: there are many ways, and none is looked at twice
		far = append(far, fmt.Sprintf("n%d bypass %s %s", i, name(i+1), name(i+2)))
	}
	far[0] = "n0 - n1"
	wide := graph(far...)
	for _, c := range []struct {
		nodes  []process.Watched
		at     string // the port's node, and whether packets go back
		back   bool
		failed string
		want   string
		to     string // instead of the planned one
	}{
		{ladder, "client", false, "", "a→b", ""},
		{ladder, "client", false, "a", "a past→b b→d", "<b"},
		{ladder, "client", false, "a b", "a past→b b past→d d→server", "<d"},
		{ladder, "client", false, "b", "a→b", ""},
		{ladder, "client", false, "a b d", "a past→b b past→d d past→server server", "<server"},
		{ladder, "a", false, "c", "b→d c ends", ""},
		{ladder, "a", false, "b c", "b past→d c ends d→server", "<d"},
		{ladder, "c", false, "d", "d past→server server", "<server"},
		{ladder, "server", true, "d", "b→a c d past→b e", "b>"},
		{ladder, "server", true, "d c", "b→a c ends d past→b e", "b>"},
		{ladder, "server", true, "d b a", "a past→client b past→a c client d past→b e", "client>"},
		{ladder, "d", true, "c", "b→a c ends", ""},
		{ladder, "c", true, "a", "a past→client client", "client>"},
		{ladder, "e", false, "a b c d", "server", ""},
		{graph("client - x", "x block y", "y bypass server"), "client", false, "x y", "x ends", "end"},
		{graph("client - x", "x bypass y", "y block server"), "client", false, "x y", "x past→y y ends", "end"},
		{wide, "n0", false, strings.Join(names(wide)[1:], " "), "", "<server"},
		{wide, "server", true, strings.Join(names(wide)[1:], " "), "", "n0>"},
	} {
		at, failed := slices.IndexFunc(c.nodes, func(n process.Watched) bool { return n.Node == c.at }), map[int]bool{}
		var ports []string
		for i, n := range c.nodes {
			failed[i] = slices.Contains(strings.Fields(c.failed), n.Node) && n.OnFailure != ""
			ports = append(ports, n.West, n.East)
		}
		number := func(port string) uint32 { return uint32(slices.Index(ports, port) + 1) }
		to := goals(c.nodes[at], c.back)
		found := around(c.nodes, to, c.back, lostOf(c.nodes, failed), func(n process.Watched, back bool) uint32 { return number(portOf(n, !back)) })
		var got []string
		for label, n := range found {
			of := c.nodes[label-1]
			text := of.Node
			switch n.Fails {
			case steer.Ends:
				text += " ends"
			case steer.Past:
				text += " past"
			}
			if n.Next != 0 {
				text += "→" + c.nodes[n.Next-1].Node
			}
			got = append(got, text)
			if n.Joint != (len(of.Back) > 1) || n.Port != number(portOf(of, !c.back)) {
				t.Errorf("from %s, %s: %+v", c.at, text, n)
			}
		}
		if slices.Sort(got); c.want != "" && strings.Join(got, " ") != c.want {
			t.Errorf("from %s, while %q fail: %s; want %s", c.at, c.failed, strings.Join(got, " "), c.want)
		}
		where := ""
		switch port := instead(c.nodes[to[0]].Label, found); port {
		case 0:
		case steer.Nowhere:
			where = "end"
		default:
			where = ports[port-1]
		}
		if where != c.to {
			t.Errorf("from %s, while %q fail, packets go to %q; want %q", c.at, c.failed, where, c.to)
		}
	}
}

func name(i int) string {
	if i >= 60 {
		return "server"
	}
	return fmt.Sprint("n", i)
}

func names(nodes []process.Watched) (all []string) {
	for _, n := range nodes {
		all = append(all, n.Node)
	}
	return all
}
