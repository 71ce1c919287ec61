package proof

import (
	"strings"
	"testing"
	"time"
)

// TestWays: each packet takes a whole way, in order, and its answer the same.
func TestWays(t *testing.T) {
	// a leads to b, c and the server; b to c.
	w := &Ways{First: []int{0}, Next: [][]int{{1, 2, 3}, {2}, {3}}}
	for _, c := range []struct{ there, back, wrong string }{
		{"abc", "cba", ""}, {"ac", "ca", ""}, {"a", "a", ""},
		{"ab", "ba", "traffic to the server takes no way of the chain: it passes a, b"},
		{"bc", "cba", "traffic to the server takes no way of the chain: it passes b, c"},
		{"", "cba", "traffic to the server takes no way of the chain: it passes none of its functions"},
		{"abc", "cb", "traffic to the client takes no way of the chain: it passes b, c"},
		{"abc", "ca", "an answer does not come back the way that it was asked: traffic to the server passes a, b, c, and to the client a, c"},
		{"acb", "cba", "traffic does not visit the functions in order: b, c"},
		{"abc", "cab", "traffic does not visit the functions in order: a, b"},
	} {
		taps := []*tap{}
		for _, name := range []string{"a", "b", "c"} {
			f := &tap{function: Function{Name: name}, in: &visits{}, out: &visits{}}
			for way, passed := range []string{forward: c.there, reverse: c.back} {
				if at := strings.Index(passed, name); at >= 0 {
					for n := range rounds {
						f.in[way][n] = time.Unix(int64(at+1), 0)
						f.out[way][n] = f.in[way][n]
					}
				}
			}
			taps = append(taps, f)
		}
		if wrong := w.wrong(taps); wrong != c.wrong {
			t.Errorf("%s and %s: %q, want %q", c.there, c.back, wrong, c.wrong)
		}
	}
}
