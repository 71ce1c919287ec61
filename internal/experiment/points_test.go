package experiment

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

func sweep(pairs ...any) (out []api.Factor) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, api.Factor{Field: pairs[i].(string), Values: pairs[i+1].([]any)})
	}
	return out
}

func names(fs []api.Function) (out []string) {
	for _, f := range fs {
		out = append(out, f.Name+":"+f.Kind)
	}
	return out
}

func function(name, kind string) api.Function {
	return api.Function{Name: name, FunctionBody: api.FunctionBody{Kind: kind}}
}

func TestPointsAreEveryCombination(t *testing.T) {
	spec := api.ExperimentSpec{Sweep: sweep("length", []any{uint64(2), 5}, "zerocopy", []any{false, true})}
	points, err := Points(spec, api.Catalogue{})
	if err != nil || len(points) != 4 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	if !reflect.DeepEqual(points[1].Factors, map[string]any{"length": uint64(2), "zerocopy": true}) {
		t.Errorf("factors %v", points[1].Factors)
	}
	if len(points[0].Chain.Functions) != 0 || points[0].Load.Zerocopy || !points[3].Load.Zerocopy {
		t.Errorf("%+v", points)
	}
	if got := names(points[3].Chain.Functions); !reflect.DeepEqual(got, []string{"f1:forward", "f2:forward", "f3:forward"}) {
		t.Errorf("functions %v", got)
	}
}

// TestLengthIsOfNamespaces, of which a group has one.
func TestLengthIsOfNamespaces(t *testing.T) {
	fw := function("fw", "forward")
	fw.Group = "box"
	spec := api.ExperimentSpec{Chain: api.ChainSpec{Functions: []api.Function{fw}}, Sweep: sweep("length", []any{4})}
	points, err := Points(spec, api.Catalogue{})
	if err != nil || len(points) != 1 || !strings.Contains(points[0].Infeasible, "vary copies instead") {
		t.Errorf("%+v, %v", points, err)
	}
	spec.Sweep = sweep("copies", []any{4})
	points, err = Points(spec, api.Catalogue{})
	if err != nil || len(points) != 1 || points[0].Chain.Length() != 3 || len(points[0].Chain.Functions) != 4 {
		t.Errorf("%+v, %v", points, err)
	}
}

// waiting are options of a program that waits for others.
type waiting []string

func (w waiting) Follows() (string, []string)  { return "after", w }
func (w waiting) Following(nodes []string) any { return waiting(nodes) }

// TestCopiesAreWaitedFor as what they are copies of, and what is left out is not.
func TestCopiesAreWaitedFor(t *testing.T) {
	a, b, c := function("a", "command"), function("b", "command"), function("c", "command")
	b.Options, c.Options = waiting{"a", "store"}, waiting{"b"}
	spec := api.ExperimentSpec{Chain: api.ChainSpec{
		Endpoints: []api.Endpoint{{Name: "store"}, {Name: "viewer", Options: map[string]any{"command": waiting{"c", "a"}}}},
		Functions: []api.Function{a, b, c},
	}}
	for field, want := range map[string]string{
		"copies.a": "viewer [c a-1 a-2] b [a-1 a-2 store] c [b]",
		"copies":   "viewer [c-3 c-6 a-1 a-4] b-2 [a-1 a-4 store] c-3 [b-2 b-5] b-5 [a-1 a-4 store] c-6 [b-2 b-5]",
		"length":   "viewer [a-1] b-2 [a-1 store]",
	} {
		spec.Sweep = sweep(field, []any{map[string]any{"copies.a": 2, "copies": 2, "length": 4}[field]})
		points, err := Points(spec, api.Catalogue{})
		if err != nil || len(points) != 1 || points[0].Infeasible != "" {
			t.Fatalf("%s: %+v, %v", field, points, err)
		}
		got := fmt.Sprint("viewer ", points[0].Chain.Endpoints[1].Options["command"])
		for _, f := range points[0].Chain.Functions {
			if f.Options != nil {
				got += fmt.Sprint(" ", f.Name, " ", f.Options)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	if !reflect.DeepEqual(b.Options, waiting{"a", "store"}) || !reflect.DeepEqual(spec.Chain.Endpoints[1].Options["command"], waiting{"c", "a"}) {
		t.Errorf("what is other points' too was changed: %+v", spec.Chain)
	}
}

// TestCopiesLeadToEachOther as what they are copies of does, each turn to the next where that led to the end of the chain.
func TestCopiesLeadToEachOther(t *testing.T) {
	a, b, c := function("a", "forward"), function("b", "forward"), function("c", "forward")
	a.Branches, b.Next = []api.Branch{{Mark: 1, To: "c"}, {Mark: 2, To: "z"}}, "z"
	spec := api.ExperimentSpec{Chain: api.ChainSpec{Endpoints: []api.Endpoint{{Name: "y"}, {Name: "z"}}, Functions: []api.Function{a, b, c}}}
	for field, want := range map[string]string{
		"copies.c": "a:c-1,z b>z c-1 c-2",
		"copies":   "a-1:c-3,a-4 b-2>a-4 c-3 a-4:c-6,z b-5>z c-6",
	} {
		spec.Sweep = sweep(field, []any{2})
		points, err := Points(spec, api.Catalogue{})
		if err != nil || len(points) != 1 || points[0].Infeasible != "" {
			t.Fatalf("%s: %+v, %v", field, points, err)
		}
		var got []string
		for _, f := range points[0].Chain.Functions {
			text := f.Name
			for i, branch := range f.Branches {
				text += map[bool]string{true: ":", false: ","}[i == 0] + branch.To
			}
			if f.Next != "" {
				text += ">" + f.Next
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", field, strings.Join(got, " "), want)
		}
	}
	if a.Branches[0].To != "c" || spec.Chain.Functions[1].Next != "z" {
		t.Errorf("what is other points' too was changed: %+v", spec.Chain)
	}
}

// TestCopiesAreCalledLikeNothingElse of the chain.
func TestCopiesAreCalledLikeNothingElse(t *testing.T) {
	for _, c := range []struct {
		functions []api.Function
		end       string
		sweep     []api.Factor
		refused   string
	}{
		{[]api.Function{function("fw", "firewall"), function("fw-2", "firewall")}, "a", sweep("copies.fw", []any{2}), "called fw-2"},
		{[]api.Function{function("fw", "firewall"), function("fw-2", "firewall")}, "a", sweep("copies.fw", []any{1}), ""},
		{[]api.Function{function("fw", "firewall")}, "fw-3", sweep("length", []any{5}), "called fw-3"},
		{nil, "f1", sweep("length", []any{3}), "called f1"},
		{[]api.Function{function("fw", "firewall"), function("fw-1", "firewall")}, "a", sweep("copies", []any{20}), ""},
	} {
		spec := api.ExperimentSpec{Chain: api.ChainSpec{Endpoints: []api.Endpoint{{Name: c.end}, {Name: "z"}}, Functions: c.functions}, Sweep: c.sweep}
		points, err := Points(spec, api.Catalogue{})
		if err != nil || len(points) != 1 || !strings.Contains(points[0].Infeasible, c.refused) || (points[0].Infeasible == "") != (c.refused == "") {
			t.Errorf("%v, end %s: %+v, %v, want %q", c.sweep, c.end, points, err, c.refused)
		}
	}
}

// TestDurationIsTheProtocols unless the file says one.
func TestDurationIsTheProtocols(t *testing.T) {
	for said, want := range map[time.Duration][2]time.Duration{0: {5 * time.Second, 31 * time.Second}, 2 * time.Second: {2 * time.Second, 2 * time.Second}} {
		spec := api.ExperimentSpec{Load: api.Load{Protocols: []string{"tcp"}, Duration: api.Duration(said)}, Sweep: sweep("protocol", []any{"tcp", "rfc6349"})}
		points, err := Points(spec, api.Catalogue{})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range points {
			if got := time.Duration(p.Load.Duration); got != want[i] {
				t.Errorf("said %v: %s for %v", said, p.Load.Protocols[0], got)
			}
		}
	}
}

// TestDurationIsTheProtocolsBesidePaths: what is put in by path leaves it alone.
func TestDurationIsTheProtocolsBesidePaths(t *testing.T) {
	words := api.Catalogue{Wirings: map[string]func() any{"veth": func() any { return &struct{}{} }}, Runtimes: []string{"netns"}}
	load := api.DefaultLoad()
	load.Duration = 0
	spec := api.ExperimentSpec{Chain: api.DefaultChainSpec(), Load: load, Sweep: sweep("chain.mtu", []any{1500, 9000}, "protocol", []any{"tcp", "rfc6349"})}
	points, err := Points(spec, words)
	if err != nil || len(points) != 4 {
		t.Fatalf("%d points, error %v", len(points), err)
	}
	for i, p := range points {
		want := []time.Duration{5 * time.Second, 31 * time.Second}[i%2]
		if got := time.Duration(p.Load.Duration); got != want || p.Infeasible != "" {
			t.Errorf("%v: %s, want %s; infeasible because %q", p.Factors, got, want, p.Infeasible)
		}
	}
}

func TestWithoutSweepThereIsOnePoint(t *testing.T) {
	spec := api.ExperimentSpec{Chain: api.ChainSpec{Functions: []api.Function{function("fw", "firewall")}}}
	points, err := Points(spec, api.Catalogue{})
	if err != nil || len(points) != 1 || points[0].Factors == nil || points[0].Chain.Functions[0].Name != "fw" {
		t.Fatalf("%+v %v", points, err)
	}
	points[0].Chain.Functions[0].Name = "changed"
	if spec.Chain.Functions[0].Name != "fw" {
		t.Error("a point shares its functions with the experiment")
	}
}

func TestLengthRepeatsTheChainsOwnFunctions(t *testing.T) {
	long := strings.Repeat("a", 61) + "-b"
	spec := api.ExperimentSpec{
		Chain: api.ChainSpec{Functions: []api.Function{function("fw", "firewall"), function(long, "shaper")}},
		Sweep: sweep("length", []any{14.0}),
	}
	points, err := Points(spec, api.Catalogue{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, f := range points[0].Chain.Functions {
		if seen[f.Name] || len(f.Name) > 63 || strings.Contains(f.Name, "--") {
			t.Errorf("name %q", f.Name)
		}
		if want := []string{"firewall", "shaper"}[i%2]; f.Kind != want {
			t.Errorf("%d: %s, want %s", i, f.Kind, want)
		}
		seen[f.Name] = true
	}
	if len(seen) != 12 || !seen["fw-11"] {
		t.Errorf("names %v", seen)
	}
}

func TestFieldsOfLoad(t *testing.T) {
	spec := api.ExperimentSpec{
		Load: api.Load{Flows: 3, Protocols: []string{"tcp", "udp"}},
		Sweep: sweep("flows", []any{uint64(8)}, "protocol", []any{"udp"}, "payload_size", []any{"32KiB"}, "rate", []any{"10Gbit"},
			"affinity", []any{uint64(0)}, "tool", []any{"iperf3"}, "duration", []any{"30s"}),
	}
	points, err := Points(spec, api.Catalogue{})
	if err != nil {
		t.Fatal(err)
	}
	want := api.Load{
		Flows: 8, Protocols: []string{"udp"}, PayloadSize: 32768, Rate: api.LoadRate{Bits: 10e9}, Affinity: "0",
		Tool: "iperf3", Duration: api.Duration(30 * time.Second),
	}
	if !reflect.DeepEqual(points[0].Load, want) {
		t.Errorf("%+v\nwant %+v", points[0].Load, want)
	}
}

// TestPayloadIsOfBulkLoads: latency has it only where nothing else is measured.
func TestPayloadIsOfBulkLoads(t *testing.T) {
	for _, c := range []struct {
		protocols []any
		want      []api.Size
	}{{[]any{"tcp", "latency", "udp"}, []api.Size{1000, 0, 1000}}, {[]any{"latency"}, []api.Size{1000}}} {
		points, err := Points(api.ExperimentSpec{Load: api.Load{PayloadSize: 1000}, Sweep: sweep("protocol", c.protocols)}, api.Catalogue{})
		if err != nil || len(points) != len(c.want) {
			t.Fatalf("%d points, error %v", len(points), err)
		}
		for i, p := range points {
			if p.Load.PayloadSize != c.want[i] {
				t.Errorf("%v: payload of %d bytes, want %d", p.Load.Protocols, p.Load.PayloadSize, c.want[i])
			}
		}
	}
}

func TestPointsTellAllThatIsWrong(t *testing.T) {
	spec := api.ExperimentSpec{Sweep: sweep(
		"length", []any{1, 2, 2.5, "three", 1e9}, "flow", []any{1}, "zerocopy", []any{}, "protocol", []any{"sctp"},
		"payload_size", []any{"64KiB", 65536, -1}, "rate", []any{"fast"}, "duration", []any{"0s"}, "flows", []any{8, 8.0}, "flows", []any{true},
	)}
	_, err := Points(spec, api.Catalogue{})
	if !errors.Is(err, ErrSweep) {
		t.Fatal(err)
	}
	for _, want := range []string{
		"sweep[0].values[0]", "sweep[0].values[2]", "sweep[0].values[3]", "sweep[0].values[4]", `sweep[1].field: cannot vary "flow"`,
		"sweep[2].values: is empty", "sweep[3].values[0]", "sweep[4].values[1]: 65536 is there already", "sweep[4].values[2]",
		"sweep[5].values[0]", "sweep[6].values[0]", "sweep[7].values[1]", "sweep[8].field: flows is varied twice", "sweep[8].values[0]",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("does not say %q:\n%v", want, err)
		}
	}
}

func TestTooManyPoints(t *testing.T) {
	var values []any
	for i := range 101 {
		values = append(values, i+2)
	}
	_, err := Points(api.ExperimentSpec{Sweep: sweep("length", values, "flows", values)}, api.Catalogue{})
	if !errors.Is(err, ErrSweep) || !strings.Contains(err.Error(), "10000") {
		t.Error(err)
	}
}

func TestCellsAreCombinedWithTheSweep(t *testing.T) {
	spec := api.ExperimentSpec{
		Chain: api.ChainSpec{Functions: []api.Function{function("fw", "firewall"), function("dpi", "forward")}},
		Cells: []map[string]any{{"copies.fw": 3, "flows": 2}, {"copies": 2}, {"copies.fw": 0}, {"copies.ids": 2}},
		Sweep: sweep("zerocopy", []any{false, true}),
	}
	points, err := Points(spec, api.Catalogue{})
	if err != nil || len(points) != 8 {
		t.Fatalf("%d points, error %v", len(points), err)
	}
	for i, want := range []string{"fw-1 fw-2 fw-3 dpi", "fw-1 dpi-2 fw-3 dpi-4", "dpi", ""} {
		var got []string
		for _, f := range points[2*i+1].Chain.Functions {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("cell %d: functions %v, want %s", i, got, want)
		}
	}
	if p := points[1]; p.Load.Flows != 2 || !p.Load.Zerocopy || !reflect.DeepEqual(p.Factors, map[string]any{"copies.fw": 3, "flows": 2, "zerocopy": true}) {
		t.Errorf("%+v", p)
	}
	if why := points[7].Infeasible; why != "the chain has no function ids to copy" || points[5].Infeasible != "" {
		t.Errorf("infeasible because %q, %q", why, points[5].Infeasible)
	}
}

// TestRequestsAreOfWebServers where any are asked: latency beside has a rate only where it is its own.
func TestRequestsAreOfWebServers(t *testing.T) {
	load := api.Load{Web: api.Web{RequestRate: 1000}}
	rates := func(cells ...map[string]any) (all []int) {
		points, err := Points(api.ExperimentSpec{Load: load, Cells: cells}, api.Catalogue{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			all = append(all, p.Load.RequestRate)
		}
		return all
	}
	web, latency, own := map[string]any{"protocol": "http"}, map[string]any{"protocol": "latency"}, map[string]any{"protocol": "latency", "request_rate": 100}
	if got := rates(web, latency, own); !slices.Equal(got, []int{1000, 0, 100}) {
		t.Errorf("beside web servers: %v", got)
	}
	if got := rates(latency, own); !slices.Equal(got, []int{1000, 100}) {
		t.Errorf("alone: %v", got)
	}
}

// TestFramesAreOfUDPAlone: what a sweep over protocols says of frames, and a search for their
// rate, is not meant for TCP.
func TestFramesAreOfUDPAlone(t *testing.T) {
	load := api.Load{Search: &api.Search{Method: "mlrsearch"}, Frames: api.Frames{FrameSize: 1518}, Rate: api.LoadRate{Frames: 7}}
	points, err := Points(api.ExperimentSpec{Load: load, Sweep: sweep("protocol", []any{"tcp", "udp"})}, api.Catalogue{})
	if err != nil || len(points) != 2 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	if l := points[0].Load; l.Search != nil || l.FrameSize != 0 || l.Rate != (api.LoadRate{}) {
		t.Errorf("TCP: %+v", l)
	}
	if l := points[1].Load; l.Search == nil || l.FrameSize != 1518 || l.Rate.Frames != 7 {
		t.Errorf("UDP: %+v", l)
	}
	load.Protocols = []string{"tcp"}
	points, err = Points(api.ExperimentSpec{Load: load, Sweep: sweep("flows", []any{1})}, api.Catalogue{})
	if err != nil || points[0].Load.Search == nil {
		t.Errorf("with no UDP at all, whoever measures refuses it: %+v, %v", points, err)
	}
}
