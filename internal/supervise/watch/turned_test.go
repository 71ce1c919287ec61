package watch

import (
	"maps"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource/process"
)

// path of ends and functions a to e, of which d blocks and e is not watched.
func path() []process.Watched {
	nodes := []process.Watched{{Node: "client", East: "client>"}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w := process.Watched{Node: name, West: "<" + name, East: name + ">", OnFailure: process.Bypass}
		switch name {
		case "d":
			w.OnFailure = process.Block
		case "e":
			w.OnFailure = ""
		}
		nodes = append(nodes, w)
	}
	return append(nodes, process.Watched{Node: "server", West: "<server"})
}

// TestTurned: where packets go when functions have failed. What is not told goes as planned.
func TestTurned(t *testing.T) {
	for failed, want := range map[string]map[string]string{
		"":     {},
		"a":    {"client>": "<b", "<b": "client>"},
		"b":    {"a>": "<c", "<c": "a>"},
		"ab":   {"client>": "<c", "a>": "<c", "<c": "client>", "<b": "client>"},
		"ac":   {"client>": "<b", "<b": "client>", "b>": "<d", "<d": "b>"},
		"abc":  {"client>": "<d", "a>": "<d", "b>": "<d", "<d": "client>", "<c": "client>", "<b": "client>"},
		"d":    {"c>": blocked, "<e": blocked},
		"cd":   {"b>": blocked, "c>": blocked, "<d": "b>", "<e": blocked},
		"abcd": {"client>": blocked, "a>": blocked, "b>": blocked, "c>": blocked, "<b": "client>", "<c": "client>", "<d": "client>", "<e": blocked},
	} {
		nodes := path()
		got := turned(nodes, func(i int) bool { return strings.Contains(failed, nodes[i].Node) && len(nodes[i].Node) == 1 })
		if len(got) != 2*(len(nodes)-1) {
			t.Errorf("%q: %d ports", failed, len(got))
		}
		maps.DeleteFunc(got, func(_, to string) bool { return to == "" })
		if !maps.Equal(got, want) {
			t.Errorf("%q failed: %v, want %v", failed, got, want)
		}
	}
}
