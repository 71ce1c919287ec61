package watch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// chain is a path of ends and functions, by their names and what becomes of packets: "a bypass", "b" for
// one that is not watched, "x block 3" for one with as many replicas.
func chain(functions ...string) []process.Watched {
	nodes := []process.Watched{{Node: "client", East: "client>"}}
	for _, text := range functions {
		var name, policy string
		replicas := 0
		_, _ = fmt.Sscan(text, &name, &policy, &replicas)
		w := process.Watched{Node: name, West: "<" + name, East: name + ">", OnFailure: policy}
		if replicas == 0 {
			nodes = append(nodes, w)
			continue
		}
		for n := 1; n <= replicas; n++ {
			node := fmt.Sprint(name, n)
			nodes = append(nodes, process.Watched{Node: node, West: "<" + node, East: node + ">", OnFailure: policy, Of: name, Number: n, Weight: 1})
		}
	}
	return append(nodes, process.Watched{Node: "server", West: "<server"})
}

// oneWay has packets go past some of the nodes on their way back.
func oneWay(nodes []process.Watched, names ...string) []process.Watched {
	for i, n := range nodes {
		nodes[i].OneWay = slices.Contains(names, n.Node)
	}
	return nodes
}

// beside some nodes is a pair by which packets are led past them.
func beside(nodes []process.Watched, names ...string) []process.Watched {
	for i, n := range nodes {
		if slices.Contains(names, n.Node) {
			nodes[i].PastWest, nodes[i].PastEast = "<<"+n.Node, n.Node+">>"
		}
	}
	return nodes
}

// text of a course: where packets go, and which replicas are left out.
func (c course) text() string {
	text := c.to
	for n := 1; n <= steer.Most; n++ {
		if c.failing.Has(n) {
			text += fmt.Sprint("-", n)
		}
	}
	return text
}

// TestTurned: where packets go when functions have failed. What is not told goes as planned.
func TestTurned(t *testing.T) {
	one := chain("a bypass", "b bypass", "c bypass", "d block", "e")
	more := chain("a bypass", "x bypass 2", "b block")
	past := oneWay(chain("a bypass", "b bypass", "c bypass", "d block"), "b", "c")
	last := chain("x block 2", "a bypass", "y replica 3")
	pairs := beside(chain("a bypass", "b bypass", "c bypass", "x block 2"), "a", "c")
	for _, c := range []struct {
		nodes  []process.Watched
		failed string
		want   map[string]string
	}{
		{one, "", map[string]string{}},
		{one, "a", map[string]string{"client>": "<b", "<b": "client>"}},
		{one, "b", map[string]string{"a>": "<c", "<c": "a>"}},
		{one, "a b", map[string]string{"client>": "<c", "a>": "<c", "<c": "client>", "<b": "client>"}},
		{one, "a c", map[string]string{"client>": "<b", "<b": "client>", "b>": "<d", "<d": "b>"}},
		{one, "a b c", map[string]string{"client>": "<d", "a>": "<d", "b>": "<d", "<d": "client>", "<c": "client>", "<b": "client>"}},
		{one, "d", map[string]string{"c>": blocked, "<e": blocked}},
		{one, "c d", map[string]string{"b>": blocked, "c>": blocked, "<d": "b>", "<e": blocked}},
		{one, "a b c d", map[string]string{"client>": blocked, "a>": blocked, "b>": blocked, "c>": blocked, "<b": "client>", "<c": "client>", "<d": "client>", "<e": blocked}},
		{more, "x2", map[string]string{"a>": "-2", "<b": "-2"}},
		{more, "a", map[string]string{"client>": shared, "<x1": "client>", "<x2": "client>"}},
		{more, "a x1", map[string]string{"client>": shared + "-1", "a>": "-1", "<b": "-1", "<x1": "client>", "<x2": "client>"}},
		{more, "x1 x2", map[string]string{"a>": "<b", "<b": "a>"}},
		{more, "a x1 x2", map[string]string{"client>": "<b", "a>": "<b", "<x1": "client>", "<x2": "client>", "<b": "client>"}},
		{more, "x1 x2 b", map[string]string{"a>": blocked, "x1>": blocked, "x2>": blocked, "<b": "a>", "<server": blocked}},
		{last, "x1", map[string]string{"client>": "-1", "<a": "-1"}},
		{last, "x1 x2", map[string]string{"client>": blocked, "<a": blocked}},
		{last, "a y3", map[string]string{"x1>": shared + "-3", "x2>": shared + "-3", "a>": "-3", "<y1": shared, "<y2": shared, "<y3": shared, "<server": "-3"}},
		{last, "y1 y2 y3", map[string]string{}},
		{pairs, "a", map[string]string{"client>": "<<a", "<b": "a>>"}},
		{pairs, "b", map[string]string{"a>": "<c", "a>>": "<c", "<c": "a>", "<<c": "a>"}},
		{pairs, "a b", map[string]string{"client>": "<<a", "a>": "<c", "a>>": "<c", "<b": "a>>", "<c": "a>>", "<<c": "a>>"}},
		{pairs, "b c", map[string]string{"a>": "<<c", "a>>": "<<c", "b>": "<<c", "<c": "a>", "<<c": "a>", "<x1": "c>>", "<x2": "c>>"}},
		{pairs, "c x1", map[string]string{"b>": "<<c", "c>": "-1", "c>>": "-1", "<x1": "c>>", "<x2": "c>>", "<server": "-1"}},
		{pairs, "c x1 x2", map[string]string{"b>": "<<c", "c>": blocked, "c>>": blocked, "<x1": "c>>", "<x2": "c>>", "<server": blocked}},
		{past, "", map[string]string{}},
		{past, "a", map[string]string{"client>": "<b", "<b": "client>", "<c": "client>", "<d": "client>"}},
		{past, "b", map[string]string{"a>": "<c"}},
		{past, "b c", map[string]string{"a>": "<d", "b>": "<d"}},
		{past, "a b", map[string]string{"client>": "<c", "a>": "<c", "<b": "client>", "<c": "client>", "<d": "client>"}},
		{past, "d", map[string]string{"c>": blocked, "<server": blocked}},
	} {
		failed := strings.Fields(c.failed)
		got := map[string]string{}
		courses := turned(c.nodes, func(i int) bool {
			for _, name := range failed {
				if c.nodes[i].Node == name {
					return true
				}
			}
			return false
		})
		for port, to := range courses {
			if got[port] = to.text(); (to.to == shared || to.failing != 0) && len(to.among) == 0 {
				t.Errorf("%q failed: %s is shared out over nobody", c.failed, port)
			}
		}
		ports := 2 * (len(c.nodes) - 1)
		for _, n := range c.nodes {
			if n.PastWest != "" {
				ports += 2
			}
		}
		if len(got) != ports {
			t.Errorf("%q: %d ports", c.failed, len(got))
		}
		maps.DeleteFunc(got, func(_, to string) bool { return to == "" })
		if !maps.Equal(got, c.want) {
			t.Errorf("%q failed: %v, want %v", c.failed, got, c.want)
		}
	}
}

// TestReplicasOfAllPaths: which of them fail is so for every path, also one by which nothing new goes.
func TestReplicasOfAllPaths(t *testing.T) {
	nodes := chain("a bypass", "x bypass 3", "y bypass 2")
	w := &Watcher{path: process.Path{Nodes: nodes}, left: map[string]steer.Numbers{"y": steer.Number(3)}}
	failed := map[int]bool{}
	for i, n := range nodes {
		failed[i] = n.Node == "x2" || n.Of == "y"
	}
	all := w.replicas(failed)
	if x, y := all["x"], all["y"]; len(all) != 2 || x.text() != "-2" || len(x.among) != 3 || y.text() != "-3" || len(y.among) != 2 {
		t.Errorf("%+v", all)
	}
}
