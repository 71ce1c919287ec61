package pass

import (
	"errors"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	program "nfchain.dev/nfchain/bpf/pass"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/pass/fold"
)

// require what the programs need.
func require(tb testing.TB) {
	tb.Helper()
	nstest.Require(tb, feature.Root, feature.BPFIngress)
}

func loaded(t *testing.T, steps []Step) *Loaded {
	t.Helper()
	require(t)
	l, err := Load(Spec{Steps: steps, Flows: LeastFlows})
	if err != nil {
		var wrong *ebpf.VerifierError
		if errors.As(err, &wrong) {
			t.Fatalf("%+v", wrong)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// instructions that are left of a program when the kernel has verified it.
func instructions(t *testing.T, l *Loaded) int {
	t.Helper()
	info, err := l.Program.Info()
	if err != nil {
		t.Fatal(err)
	}
	code, err := info.Instructions()
	if err != nil {
		t.Fatal(err)
	}
	return len(code)
}

// TestFuses has the kernel keep of the program what its steps do, and no more.
func TestFuses(t *testing.T) {
	var counters []Step
	for slot := range uint32(Most) {
		counters = append(counters, NewCount(slot))
	}
	none, one, twenty := instructions(t, loaded(t, nil)), instructions(t, loaded(t, counters[:1])), instructions(t, loaded(t, counters[:20]))
	limit := instructions(t, loaded(t, []Step{NewLimit(0, Bucket{Rate: 1e9, Burst: 1e6})}))
	flow := instructions(t, loaded(t, []Step{NewLimit(0, Bucket{Rate: 1e9, Burst: 1e6, Per: Flow})}))
	t.Logf("instructions: without steps %d, one counter %d, 20 counters %d, a limit of the chain %d, of flows %d", none, one, twenty, limit, flow)
	each := one - none
	if more := twenty - one; each <= 0 || more > 19*(each+2) {
		t.Errorf("a counter takes %d instructions, and 19 more %d", each, more)
	}
	if limit <= one || flow <= limit {
		t.Errorf("a counter has %d instructions, a limit %d, one of flows %d", one, limit, flow)
	}
	loaded(t, counters) // as many as there can be
}

// TestConstantsAlike holds the numbers of acts to those of the C.
func TestConstantsAlike(t *testing.T) {
	spec, err := program.LoadProgram()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]map[string]uint64{
		"act": {
			"ACT_END": uint64(End), "ACT_COUNT": uint64(Count), "ACT_MARK": uint64(Mark), "ACT_DSCP": uint64(DSCP),
			"ACT_DROP": uint64(Drop), "ACT_LIMIT": uint64(Limit), "ACT_RULES": uint64(Rules), "ACT_MIRROR": uint64(Mirror),
			"ACT_NAT": uint64(Translate),
		},
	} {
		var enum *btf.Enum
		if err := spec.Types.TypeByName(name, &enum); err != nil {
			t.Fatal(err)
		}
		if len(enum.Values) != len(want) {
			t.Errorf("enum %s has %d values, %d are known here", name, len(enum.Values), len(want))
		}
		for _, v := range enum.Values {
			if here, known := want[v.Name]; !known || here != v.Value {
				t.Errorf("%s is %d, and %d (known: %t) here", v.Name, v.Value, here, known)
			}
		}
	}
}

// TestRefuses what the program cannot take.
func TestRefuses(t *testing.T) {
	for name, steps := range map[string][]Step{
		"more than there can be": make([]Step, Most+1), "no act": {{}}, "unknown act": {{Act: Translate + 1}},
		"a slot too high": {NewCount(Most)}, "a slot twice": {NewCount(3), NewMark(3, 1, 1)},
	} {
		if err := check(steps); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	require(t)
	if l, err := Load(Spec{Steps: []Step{NewRules(0)}}); err == nil {
		t.Error("a firewall without rules: not refused")
		_ = l.Close()
	}
	for name, s := range map[string]Spec{
		"a nat without rules": {Steps: []Step{NewNAT(0)}}, "a mirror without a tap": {Steps: []Step{NewMirror(0, Copies{})}},
		"too many taps": {Taps: make([]string, MostTaps+1)},
	} {
		if l, err := Load(s); err == nil {
			t.Errorf("%s: not refused", name)
			_ = l.Close()
		}
	}
	for _, flows := range []uint32{0, LeastFlows - 1, MostFlows + 1} {
		if l, err := Load(Spec{Steps: []Step{NewLimit(0, Bucket{Rate: 1e6, Burst: 1, Per: Flow})}, Flows: flows}); err == nil {
			t.Errorf("buckets for %d flows: not refused", flows)
			_ = l.Close()
		}
	}
}

// TestFoldsPasses to a part of the whole that goes with their steps.
func TestFoldsPasses(t *testing.T) {
	for called, object := range objects {
		spec, err := object()
		if err != nil {
			t.Fatal(err)
		}
		var before int
		for n := range 5 {
			var steps []Step
			for slot := range uint32(n) {
				steps = append(steps, NewCount(slot))
			}
			spec, err := object()
			if err == nil {
				err = prepare(spec, steps, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			left, err := fold.Program(spec.Programs[passProgram].Instructions, spec.Maps[constantsMap].Contents[0].Value.([]byte))
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 && len(left)-before > 40 || len(left) <= before {
				t.Errorf("%s: with %d steps %d instructions, and with one less %d", called, n, len(left), before)
			}
			before = len(left)
		}
		whole := spec.Programs[passProgram].Instructions
		t.Logf("%s: %d instructions, and %d with four counters", called, len(whole), before)
		if before > len(whole)/3 {
			t.Errorf("%s: of %d instructions %d are left", called, len(whole), before)
		}
	}
}
