package pass

import (
	"reflect"
	"testing"

	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource"
)

const fin, rst = 1, 4

// TestConnectionsDoNotStepBack: what one pass saw of a connection while the other had another table is not undone by what that saw later, when both
// have one table.
func TestConnectionsDoNotStepBack(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	for _, port := range []uint16{1000, 1001} {
		expect{{"eth0", false, port, syn, 0}, {"eth1", true, port, syn | ack, 1}, {"eth0", false, port, ack, 1}}.of(t, p, f)
	}
	expect{{"eth0", false, 1002, syn, 0}}.of(t, p, f)
	for i, device := range []string{"eth0", "eth1"} {
		s := guards(device, f)
		s.Connections *= 2
		apply(t, p, resource.Update, s)
		if i == 0 {
			expect{
				{"eth0", false, 1000, rst | ack, 1}, {"eth1", true, 1000, ack, 1}, // which was under way
				{"eth0", false, 1001, fin | ack, 1}, {"eth1", true, 1001, fin | ack, 1},
				{"eth1", true, 1002, syn | ack, 1}, {"eth0", false, 1002, syn, 0}, // which cross
			}.of(t, p, f)
		}
	}
	expect{
		{"eth0", false, 1000, syn, 0}, {"eth0", false, 1001, syn, 0}, // both were over, and begin anew
		{"eth0", false, 1002, ack, 1}, // it was answered
	}.of(t, p, f)
}

// TestAllAreLoadedBeforeOneIsPut: where one of two passes cannot be, the other stays what it was, so that no connection is seen by two tables
// for as long as it takes to load a pass.
func TestAllAreLoadedBeforeOneIsPut(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	before := read(t, p)
	wide, wrong := guards("eth0", f), guards("eth1", f)
	wide.Connections, wrong.Connections = 2*LeastConnections, MostConnections+1
	changes := []resource.Change{{Op: resource.Update, Key: "eth0", Spec: wide}, {Op: resource.Update, Key: "eth1", Spec: wrong}}
	if err := (Kind{}).Apply(p, changes); err == nil || !reflect.DeepEqual(read(t, p), before) {
		t.Errorf("%+v, and before %+v; error %v", read(t, p), before, err)
	}
	wrong.Connections = wide.Connections
	changes[1].Spec = wrong
	if err := (Kind{}).Apply(p, changes); err != nil {
		t.Fatal(err)
	}
	readsBack(t, p, wide, wrong)
	expect{{"eth0", false, 1000, syn, 0}, {"eth1", true, 1000, syn | ack, 1}}.of(t, p, f)
}

// TestBothKnow of a connection what either table does, whichever saw it last.
func TestBothKnow(t *testing.T) {
	type flow = passrules.ProgramRulesFlow
	asked := flow{Last: 5, Open: 1, Seen: 16, Answers: [4]uint64{7}}
	answered := flow{Last: 9, Open: 1, Replied: 1, Seen: 16, Answers: [4]uint64{0, 0, 8}}
	with := func(f flow, seen byte, last uint64) flow {
		f.Seen, f.Last = f.Seen|seen, last
		return f
	}
	for name, c := range map[string]struct{ one, other, want flow }{
		"the same":                    {asked, asked, asked},
		"answered":                    {asked, answered, flow{Last: 9, Open: 1, Replied: 1, Seen: 16, Answers: [4]uint64{7, 0, 8}}},
		"asked again":                 {with(asked, 0, 10), answered, flow{Last: 10, Open: 1, Replied: 1, Seen: 16, Answers: [4]uint64{7, 0, 8}}},
		"one end has finished":        {with(answered, 1, 20), with(answered, 0, 30), with(answered, 1, 30)},
		"both have":                   {with(answered, 1, 20), with(answered, 2, 30), with(answered, 3, 30)},
		"reset, and one on its way":   {with(answered, 4, 20), with(answered, 0, 30), with(answered, 4, 30)},
		"refused, asked once more":    {with(asked, 8, 20), with(asked, 0, 30), with(asked, 0, 30)},
		"refused by the other end":    {with(answered, 8, 20), with(asked, 0, 30), flow{Last: 30, Open: 1, Seen: 16, Answers: [4]uint64{7, 0, 8}}},
		"refused":                     {with(asked, 0, 20), with(asked, 8, 30), with(asked, 8, 30)},
		"begun anew after both did":   {with(asked, 0, 40), with(answered, 3, 30), with(asked, 0, 40)},
		"and answered":                {with(asked, 0, 40), with(answered, 3, 50), flow{Last: 50, Open: 1, Replied: 1, Seen: 16, Answers: asked.Answers}},
		"begun anew by the other end": {with(answered, 3, 30), flow{Last: 40, Open: 1, Opener: 1, Seen: 16}, flow{Last: 40, Open: 1, Opener: 1, Seen: 16}},
		"begun anew, and not let":     {with(answered, 3, 30), flow{Last: 40, Seen: 16}, flow{Last: 40, Seen: 16}},
	} {
		for _, got := range []flow{united(c.one, c.other), united(c.other, c.one)} {
			if got != c.want {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
		}
	}
}
