package ebpf_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/wiring/ebpf"
)

func planned(t *testing.T, spec string, has func(string) bool, o plan.Options) *plan.Plan {
	t.Helper()
	p, err := plan.Make(plantest.Chain(t, "edge", "wiring: ebpf\n"+spec), plantest.Catalogue(), plan.Facts{Has: has}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// end of a hop, as a node and its interface.
func end(e link.End) string { return e.Node + " " + e.Device }

// TestWays: what comes in at the port of an interface goes to the port of the interface that
// it is joined to, both ways, the direct hop's too.
func TestWays(t *testing.T) {
	p := planned(t, "functions: [{name: a, kind: forward}, {name: b, kind: bridge}]\n", nil, plan.Options{Direct: true})
	behind, ways := map[string]string{}, map[string]string{}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case link.Spec:
			if s.B.Namespace != p.Between() || len(s.B.Device) > 15 {
				t.Errorf("the port of %s is %+v", end(s.A), s.B)
			}
			behind[s.B.Device] = end(s.A)
		case steer.Spec:
			ways[s.Device] = s.To
		}
	}
	got := map[string]string{}
	for from, to := range ways {
		got[behind[from]] = behind[to]
	}
	want := [][2]string{{"client eth0", "a eth0"}, {"a eth1", "b eth0"}, {"b eth1", "server eth0"}, {"client ethd0", "server ethd1"}}
	for _, w := range want {
		if got[w[0]] != w[1] || got[w[1]] != w[0] {
			t.Errorf("%v: there %q, back %q", w, got[w[0]], got[w[1]])
		}
	}
	if len(got) != 2*len(want) || len(behind) != len(got) {
		t.Errorf("ways %v over ports %v", got, behind)
	}
}

// TestInsertedFunctionLeavesOthers all that they have; at two ports beside it packets go elsewhere.
func TestInsertedFunctionLeavesOthers(t *testing.T) {
	few := planned(t, "functions: [{name: a, kind: forward}, {name: c, kind: forward}]\n", nil, plan.Options{})
	more := planned(t, "functions: [{name: a, kind: forward}, {name: b, kind: forward}, {name: c, kind: forward}]\n", nil, plan.Options{})
	after := map[string]string{}
	for _, r := range more.Resources {
		after[r.ID] = r.Spec.Fingerprint()
	}
	turned := 0
	for _, r := range few.Resources {
		switch {
		case r.Kind == steer.KindName && after[r.ID] != "" && after[r.ID] != r.Spec.Fingerprint():
			turned++
		case after[r.ID] != r.Spec.Fingerprint():
			t.Errorf("%s was %q and is %q", r.ID, r.Spec.Fingerprint(), after[r.ID])
		}
	}
	if turned != 2 {
		t.Errorf("%d ports are turned, want 2", turned)
	}
}

// TestHook: the better one that the machine has, unless a file names one.
func TestHook(t *testing.T) {
	old := func(f string) bool { return f != feature.BPFTCX }
	for _, c := range []struct {
		options, want, needs string
		has                  func(string) bool
	}{
		{"", steer.TCX, feature.BPFTCX, nil},
		{"", steer.Clsact, feature.BPFClsact, old},
		{"ebpf: {hook: clsact}\n", steer.Clsact, feature.BPFClsact, nil},
		{"ebpf: {hook: tcx}\n", steer.TCX, feature.BPFTCX, old},
	} {
		p := planned(t, c.options+"functions: []\n", c.has, plan.Options{})
		if p.Settings["hook"] != c.want || !slices.Contains(p.Requires, c.needs) || !slices.Contains(p.Requires, feature.BPFPeer) {
			t.Errorf("%q: %v, which requires %v", c.options, p.Settings, p.Requires)
		}
		for _, r := range p.Resources {
			if s, is := r.Spec.(steer.Spec); is && s.Hook != c.want {
				t.Errorf("%q: %+v", c.options, s)
			}
		}
	}
}

// TestTimes that are refused: too short to be told from none, and a census that is longer than flows are waited for.
func TestTimes(t *testing.T) {
	of := func(idle, census time.Duration) *ebpf.Options {
		o := ebpf.Wiring{}.Options().(*ebpf.Options)
		o.Idle, o.Census = cmp.Or(api.Duration(idle), o.Idle), cmp.Or(api.Duration(census), o.Census)
		return o
	}
	for name, c := range map[string]struct {
		options *ebpf.Options
		wrong   string
	}{
		"defaults": {of(0, 0), ""}, "a short idle": {of(100*time.Millisecond, 0), ""}, "a long census": {of(time.Hour, time.Hour), ""},
		"no idle": {of(1, 0), "idle"}, "no census": {of(0, 1), "census"}, "a census without end": {of(0, time.Hour), "census"},
	} {
		var paths []string
		for _, w := range c.options.Validate() {
			paths = append(paths, w.Path)
		}
		if got := strings.Join(paths, " "); got != c.wrong {
			t.Errorf("%s: %q is wrong, want %q", name, got, c.wrong)
		}
	}
}
