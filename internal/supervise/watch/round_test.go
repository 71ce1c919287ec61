package watch

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// newLine is a watcher over functions in a line, by their names, whose probes come through; those after a "|" get probes with other
// addresses, and a function in brackets is not visited on the way back.
func newLine(t *testing.T, names string) *Watcher {
	t.Helper()
	w := &Watcher{beats: time.Unix(1000, 0), ports: map[string]*port{}, socket: 1}
	host := byte(1)
	for _, name := range strings.Fields(names) {
		if name == "|" {
			host++
			continue
		}
		to := func(last byte) (first, other *process.Probe) {
			p := process.Probe{FromMAC: "02:00:00:00:00:01", ToMAC: fmt.Sprintf("02:00:00:00:%02x:%02x", name[len(name)-1], last)}
			p.From, p.To = netip.AddrFrom4([4]byte{198, 18, host, 3 - last}), netip.AddrFrom4([4]byte{198, 18, host, last})
			q := p
			q.From, q.To = netip.AddrFrom16([16]byte{0x20, 1, 14: host, 15: 3 - last}), netip.AddrFrom16([16]byte{0x20, 1, 14: host, 15: last})
			return &p, &q
		}
		spec := process.Watched{Node: strings.Trim(name, "()"), OnFailure: process.Bypass, West: "<" + name, East: name + ">", OneWay: name[0] == '('}
		spec.Eastward, spec.OtherEastward = to(2)
		spec.Westward, spec.OtherWestward = to(1)
		for i, p := range []*port{w.port(spec.West, spec), w.port(spec.East, spec)} {
			p.steer, p.taker = &steer.Port{Index: 100*len(w.ports) + i}, &health.Taker{}
		}
		if err := w.watch(&node{spec: spec, number: len(w.nodes)}); err != nil {
			t.Fatal(err)
		}
	}
	w.line()
	for _, n := range w.nodes {
		for _, v := range n.ways {
			v.proven = true
		}
	}
	return w
}

// probed visits all functions, and tells by whose names probes go, in their order: "a-c" through all from a to c. Those come
// through which do not fall.
func (w *Watcher) probed(now time.Time, falls func(n *node, through int) bool) string {
	for _, n := range w.nodes {
		w.visit(n, now)
	}
	w.settle(now)
	w.round(now)
	of := map[int]*node{}
	for _, n := range w.nodes {
		for _, v := range n.ways {
			of[v.row] = n
		}
	}
	var all []string
	for i, first := range w.post.ways {
		p := w.post.payloads[i]
		text := of[int(p.Row)].spec.Node
		if p.Last != p.Row {
			text += "-" + of[int(p.Last)].spec.Node
		}
		all = append(all, text)
		through := 0
		for v := first; v != first.last.next; v = v.next {
			if falls != nil && falls(of[v.row], through) {
				break
			}
			through++
			v.hear(p.Number, 20*time.Microsecond, now)
		}
	}
	w.post = post{}
	return strings.Join(all, " ")
}

// TestRounds: at a beat one probe goes through all functions in a line, in one direction after the other, in each family; not from one that
// translates addresses to those behind it, and on the way back past what is one-way, which is asked the other way then.
func TestRounds(t *testing.T) {
	for names, want := range map[string][]string{
		"a b c":     {"a-c", "c-a", "a-c", "c-a", "a-c"},
		"a":         {"a", "a", "a", "a"},
		"a b | c d": {"a-b c-d", "b-a d-c", "a-b c-d"},
		"a (b) c":   {"a-c", "b c-a", "a-c"},
	} {
		w := newLine(t, names)
		families := map[*way]int{}
		for beat, want := range want {
			now := w.beats.Add(time.Duration(beat) * slow)
			if got := w.probed(now, nil); got != want {
				t.Errorf("%s, beat %d: %q, want %q", names, beat, got, want)
			}
			if again := w.probed(now.Add(fast), nil); again != "" {
				t.Errorf("%s, beat %d: %q soon after", names, beat, again)
			}
			for _, n := range w.nodes {
				asked := 0
				for _, v := range n.ways {
					if v.asked.Equal(now) {
						asked++
						families[v]++
					}
				}
				if asked != 1 || n.asking() {
					t.Errorf("%s, beat %d: %s is asked %d times", names, beat, n.spec.Node, asked)
				}
			}
		}
		if len(want) > 3 && len(families) != 4*len(w.nodes) {
			t.Errorf("%s: %d ways are probed", names, len(families))
		}
	}
}

// TestRoundsAreFinite: no probe goes through so many functions that its hop limit would not do.
func TestRoundsAreFinite(t *testing.T) {
	var names []string
	for i := range farthest + 2 {
		names = append(names, fmt.Sprint("f", 10+i))
	}
	w := newLine(t, strings.Join(names, " "))
	if got := w.probed(w.beats, nil); got != "f10-f25 f26-f27" {
		t.Error(got)
	}
}

// TestBehindOneThatIsLost: a function behind one where a probe ended has as long for the probes of its own as any other.
func TestBehindOneThatIsLost(t *testing.T) {
	w := newLine(t, "a b c")
	at := func(after time.Duration) time.Time { return w.beats.Add(4*slow + after) }
	w.probed(w.beats, nil)
	none := func(n *node, _ int) bool { return n.spec.Node != "a" }
	if got := w.probed(at(0), none); got != "a-c" {
		t.Error(got)
	}
	for i := 1; i < missing; i++ {
		w.probed(at(time.Duration(i)*fast), none)
	}
	lost := ""
	for _, n := range w.nodes {
		for _, v := range n.ways {
			if v.lost(at((missing-1)*fast + fast/2)) {
				lost += n.spec.Node
			}
		}
	}
	if lost != "b" {
		t.Errorf("%q are lost", lost)
	}
}

// TestRoundOfOneThatIsLost: where a probe ends, that function and those behind it are asked by themselves at once, those behind it are not
// taken for lost, and it is no part of what comes from others for a while.
func TestRoundOfOneThatIsLost(t *testing.T) {
	w := newLine(t, "a b c d")
	at := func(beats float64) time.Time { return w.beats.Add(time.Duration(beats * float64(slow))) }
	dead := func(n *node, _ int) bool { return n.spec.Node == "b" }
	joined := func(n *node, through int) bool { return n.spec.Node == "b" && through > 0 }
	if got := w.probed(at(0), nil); got != "a-d" {
		t.Error(got)
	}
	for beat, falls := range []func(*node, int) bool{dead, joined} {
		beat = 4*beat + 4
		if got := w.probed(at(float64(beat)), falls); got != "a-d" {
			t.Errorf("beat %d: %s", beat, got)
		}
		for i, n := range w.nodes {
			if n.asking() != (i > 0) {
				t.Errorf("beat %d: of %s a probe is missing: %v", beat, n.spec.Node, n.asking())
			}
		}
		got := w.probed(at(float64(beat)+0.01), falls)
		if !slices.Equal(strings.Fields(got), strings.Fields("b b b b c c c c d d d d")) {
			t.Errorf("beat %d, then: %s", beat, got)
		}
		for i, n := range w.nodes {
			if n.asking() != (i == 1 && beat == 4) || n.ill(at(float64(beat)+1), nil) != "" {
				t.Errorf("beat %d, then: of %s a probe is missing: %v, %s", beat, n.spec.Node, n.asking(), n.ill(at(float64(beat)+1), nil))
			}
		}
		if beat == 4 {
			for range missing - 2 {
				w.probed(at(float64(beat)+0.02), falls)
			}
			if b := w.nodes[1]; b.ill(at(float64(beat)+0.05), nil) == "" {
				t.Errorf("it is not known that b is lost: %+v", b.ways[0].trust)
			}
			for _, v := range w.nodes[1].ways {
				v.live()
				v.ask(at(5))
				v.hear(v.sent, 0, at(5)) // it is well again
				v.apart = time.Time{}
			}
		}
	}
	if got := w.probed(at(12), joined); got != "a b c-d" {
		t.Errorf("then: %s", got)
	}
	if got := w.probed(at(8).Add(lonely+2*slow), nil); got != "a-d" {
		t.Errorf("in the end: %s", got)
	}
}

// TestRoundOfOneThatLosesSome: where a probe that was to go on ends in the very function that it was sent into, that one has its own for a
// while, though it lets through those.
func TestRoundOfOneThatLosesSome(t *testing.T) {
	w := newLine(t, "a b c")
	at := func(beats float64) time.Time { return w.beats.Add(time.Duration(beats * float64(slow))) }
	first := true
	once := func(n *node, _ int) bool {
		was := first
		first = first && n.spec.Node != "a"
		return was && n.spec.Node == "a"
	}
	for _, c := range []struct {
		beat float64
		want string
	}{
		{0, "a-c"}, {0.01, "a a a a b b b b c c c c"}, {1, "c-a"}, {4, "a b-c"}, {12, "a-c"},
	} {
		if got := w.probed(at(c.beat), once); got != c.want {
			t.Errorf("beat %v: %q, want %q", c.beat, got, c.want)
		}
	}
	for _, n := range w.nodes {
		if n.asking() {
			t.Errorf("of %s a probe is missing", n.spec.Node)
		}
	}
}

// TestRoundWhereOneCannotBeSent: who stands in a line behind one that cannot be sent its probe is asked at the same beat.
func TestRoundWhereOneCannotBeSent(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Veth)
	h := nstest.Open(t, nstest.Namespace(t))
	near, far := pair(t, h)
	const tooNarrow = 68 // bytes, for a probe
	if err := h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "narrow", MTU: tooNarrow}, PeerName: "other"}); err != nil {
		t.Fatal(err)
	}
	narrow := index(t, h, "narrow")
	if err := h.LinkSetUp(link(narrow)); err != nil {
		t.Fatal(err)
	}
	for unsent, c := range map[string]struct {
		want  string
		asked int
	}{"": {"a-d", 4}, "a": {"b-d", 3}, "b": {"a-d", 4}, "a b": {"c-d", 2}, "a b c": {"d-d", 1}, "a b c d": {"", 0}} {
		w := newLine(t, "a b c d")
		w.socket, w.signature = socket(t, h, 0), known
		in, rows := socket(t, h, far), map[uint32]string{}
		for _, n := range w.nodes {
			v := n.ways[0]
			rows[uint32(v.row)] = n.spec.Node
			if v.in.steer.Index = near; strings.Contains(unsent, n.spec.Node) {
				v.in.steer.Index = narrow
			}
		}
		for _, n := range w.nodes {
			w.visit(n, w.beats)
		}
		w.round(w.beats)
		w.send()
		if c.want != "" {
			b, at := next(t, in), w.nodes[0].ways[0].frame.at
			if got := rows[binary.NativeEndian.Uint32(b[at+24:])] + "-" + rows[binary.NativeEndian.Uint32(b[at+28:])]; got != c.want {
				t.Errorf("without %q: %s are asked, want %s", unsent, got, c.want)
			}
		}
		for i, n := range w.nodes {
			if v := n.ways[0]; v.asking() != (i >= 4-c.asked) || v.unasked == v.asking() {
				t.Errorf("without %q: %s is asked: %v, could not be: %v", unsent, n.spec.Node, v.asking(), v.unasked)
			}
		}
	}
}

// TestRoundWithoutTheSlow: a function that takes its time is not on the way of a probe to others, nor is one that has failed, or that no
// probe ever came through.
func TestRoundWithoutTheSlow(t *testing.T) {
	for name, c := range map[string]struct {
		change func(n *node)
		want   string
	}{
		"slow a while ago": {func(n *node) {
			n.ways[0].hear(n.ways[0].trust.ask(time.Unix(990, 0)), fast*2/3, time.Unix(990, 0).Add(memory*2/3))
		}, "a b c-d"},
		"slow":       {func(n *node) { n.ways[0].hear(n.ways[0].trust.ask(time.Unix(1000, 0)), fast, time.Unix(1000, 0)) }, "a b c-d"},
		"unproven":   {func(n *node) { n.ways[0].proven = false }, "b a b c-d"},
		"not there":  {func(n *node) { n.ways[0].in.steer = nil }, "a c-d"},
		"unwatched":  {func(n *node) { n.ways[0].out.taker = nil }, "a c-d"},
		"missing":    {func(n *node) { n.ways[0].trust.ask(time.Time{}) }, "b b b b a c-d"},
		"of packets": {func(n *node) { n.ways[0].trust.ask(time.Unix(0, 0)); n.ways[0].live() }, "b a c-d"},
	} {
		w := newLine(t, "a b c d")
		c.change(w.nodes[1])
		if got := w.probed(w.beats, nil); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
