package rules_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource/pass/rules"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func compiled(t testing.TB, list []ruleset.Rule, policy string) *rules.Table {
	t.Helper()
	table, err := rules.Compile(list, policy, rules.MostBytes)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// agree holds what the table finds to what the rules mean.
func agree(t *testing.T, table *rules.Table, list []ruleset.Rule, policy string, p rules.Packet) {
	t.Helper()
	want, verdict := first(list, p), policy
	if want < len(list) {
		verdict = list[want].Verdict
	}
	got, accepted := table.Find(p)
	if got != want || accepted != (verdict == "accept") {
		t.Fatalf("%+v: found rule %d, accepted %t, want rule %d, %s", p, got, accepted, want, verdict)
	}
}

// TestFindsTheFirst holds tables of random rules to the rules, one by one.
func TestFindsTheFirst(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := one(r, 0, 1, 2, r.IntN(30), 63, 64, 65, 511, 512, 513, r.IntN(1500))
		list, policy := randomRules(r, n, seed%2 == 1), one(r, "accept", "drop")
		table := compiled(t, list, policy)
		for range 200 {
			agree(t, table, list, policy, randomPacket(r))
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add(uint64(1), uint16(10))
	f.Add(uint64(2), uint16(600))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		r := rand.New(rand.NewPCG(seed, 2))
		list := randomRules(r, int(n%2048), true)
		table := compiled(t, list, "drop")
		for range 100 {
			agree(t, table, list, "drop", randomPacket(r))
		}
	})
}

// TestEveryRuleIsFound among more than one word of the summary can tell of.
func TestEveryRuleIsFound(t *testing.T) {
	const n = 34_000
	list := make([]ruleset.Rule, n)
	for i := range list {
		a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		list[i] = ruleset.Rule{Verdict: "drop", Match: ruleset.Match{Source: netip.PrefixFrom(a, 32)}}
	}
	table := compiled(t, list, "accept")
	for i, r := range list {
		p := rules.Packet{Source: r.Source.Addr(), Destination: r.Source.Addr(), SourcePort: rules.NoPort, DestinationPort: rules.NoPort}
		if got, accepted := table.Find(p); got != i || accepted {
			t.Fatalf("found %d instead of %d, accepted %t", got, i, accepted)
		}
	}
	if per := len(table.Memory()) / n; per > 1000 {
		t.Errorf("takes %d bytes a rule", per)
	}
}

// TestLateRules are found behind many that share their ranges in each dimension alone.
func TestLateRules(t *testing.T) {
	list := manyRules(10_000)
	table := compiled(t, list, "accept")
	r := rand.New(rand.NewPCG(7, 7))
	for range 3000 {
		of := list[r.IntN(len(list))]
		p := rules.Packet{Source: of.Source.Addr(), Destination: netip.AddrFrom4([4]byte{172, 16, byte(r.IntN(256)), 1}),
			Protocol: 17, SourcePort: 1, DestinationPort: int32(of.DestinationPorts.Last)}
		agree(t, table, list, "accept", p)
	}
}

func TestConnectionBytesNobodyReachesMatchNothing(t *testing.T) {
	table := compiled(t, []ruleset.Rule{{Verdict: "drop", Match: ruleset.Match{ConnectionBytes: 1 << 60}}}, "accept")
	if rule, accepted := table.Find(randomPacket(rand.New(rand.NewPCG(1, 1)))); rule != 1 || !accepted {
		t.Errorf("found rule %d, accepted %t", rule, accepted)
	}
}

func TestRefuses(t *testing.T) {
	for want, r := range map[string]ruleset.Rule{
		"verdict":          {},
		"an interface":     {Verdict: "drop", Match: ruleset.Match{InputDevice: "eth0"}},
		"changes":          {Verdict: "drop", HopLimit: 1},
		"a share":          {Verdict: "drop", Match: ruleset.Match{OneIn: 2}},
		"bytes":            {Verdict: "drop", Match: ruleset.Match{ConnectionBytes: 1}},
		`protocol "gre"`:   {Verdict: "drop", Match: ruleset.Match{Protocol: "gre"}},
		`state "snatched"`: {Verdict: "drop", Match: ruleset.Match{States: []string{"snatched"}}},
	} {
		if _, err := rules.Compile([]ruleset.Rule{r}, "drop", rules.MostBytes); err == nil || !strings.Contains(err.Error(), "rule 1") || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := rules.Compile(nil, "reject", rules.MostBytes); err == nil {
		t.Error("took a policy that there is not")
	}
	if _, err := rules.Compile(make([]ruleset.Rule, 1<<18), "drop", rules.MostBytes); err == nil {
		t.Error("took more rules than a table holds")
	}
}

// TestClassifiesByProtocol: rules ask for any protocol by its number, and what none asks for meets those that ask for none.
func TestClassifiesByProtocol(t *testing.T) {
	list := []ruleset.Rule{{Match: ruleset.Match{Protocol: "47"}}, {Match: ruleset.Match{Protocol: "255"}}, {Match: ruleset.Match{Protocol: "tcp"}},
		{Match: ruleset.Match{Protocol: "6"}}, {Match: ruleset.Match{Protocol: "1", Family: 4}}, {Match: ruleset.Match{Family: 6}}}
	table, err := rules.Classify(list, 1, func(int, int) bool { return true }, rules.MostBytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")} {
		for number := range 256 {
			want := map[int]int{47: 0, 255: 1, 6: 2}
			rule, named := want[number]
			switch {
			case named:
			case a.Is6():
				rule = 5
			case number == 1:
				rule = 4
			default:
				rule = len(list)
			}
			p := rules.Packet{Source: a, Destination: a, Protocol: uint8(number), SourcePort: rules.NoPort, DestinationPort: rules.NoPort}
			if got, _ := table.Find(p); got != rule {
				t.Errorf("%+v meets rule %d, want %d", p, got, rule)
			}
		}
	}
}

// TestKeepsToItsRoom: a table is made in as much memory as it takes, and in no less, whatever it lacks.
func TestKeepsToItsRoom(t *testing.T) {
	list := manyRules(2000)
	table := compiled(t, list, "accept")
	whole := len(table.Memory())
	if _, err := rules.Compile(list, "accept", whole); err != nil {
		t.Error(err)
	}
	for _, most := range []int{whole - 1, whole / 2, whole / 10, 64, 0} {
		if _, err := rules.Compile(list, "accept", most); err == nil || !strings.Contains(err.Error(), "2000 rules") {
			t.Errorf("in %d of %d bytes: %v", most, whole, err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	list := manyRules(10_000)
	for b.Loop() {
		table, err := rules.Compile(list, "accept", rules.MostBytes)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(table.Memory())), "bytes")
	}
}

func BenchmarkFind(b *testing.B) {
	list := manyRules(10_000)
	table := compiled(b, list, "accept")
	r := rand.New(rand.NewPCG(3, 3))
	packets := make([]rules.Packet, 1024)
	for i := range packets {
		packets[i] = randomPacket(r)
		packets[i].Source, packets[i].Destination = list[r.IntN(len(list))].Source.Addr(), netip.AddrFrom4([4]byte{172, 16, byte(i), 1})
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		table.Find(packets[i%len(packets)])
	}
}
