package advise

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseGoal(t *testing.T) {
	g, err := ParseGoal(" throughput > 10Gbit,p99<200us, udp loss <= 0.1% ,latency latency ≤ 1.5 ms, packets >= 2Mpps")
	if err != nil || len(g) != 5 {
		t.Fatalf("%v %+v", err, g)
	}
	want := []Clause{
		{Word: "throughput", AtLeast: true, Strict: true, Bound: 10e9, Text: "throughput > 10Gbit"},
		{Word: "p99", Strict: true, Bound: 200e3, Text: "p99<200us"},
		{Word: "loss", Protocol: "udp", Bound: .001, Text: "udp loss <= 0.1%"},
		{Word: "latency", Protocol: "latency", Bound: 1.5e6, Text: "latency latency ≤ 1.5 ms"},
		{Word: "packets", AtLeast: true, Bound: 2e6, Text: "packets >= 2Mpps"},
	}
	for i, w := range want {
		c := g[i]
		if c.Word != w.Word || c.Protocol != w.Protocol || c.AtLeast != w.AtLeast || c.Strict != w.Strict || math.Abs(c.Bound-w.Bound) > 1e-9*w.Bound || c.Text != w.Text || len(c.Metrics) == 0 {
			t.Errorf("%+v, want %+v", c, w)
		}
	}
	if g, err := ParseGoal("latency < 1ms"); err != nil || g[0].Protocol != "" || g[0].Metrics[0] != "latency_mean_ns" {
		t.Errorf("%v %+v", err, g)
	}
	if g, err := ParseGoal("throughput > 100kpps"); err != nil || g[0].Metrics[0] != "throughput_pps" || g[0].Bound != 1e5 {
		t.Errorf("%v %+v", err, g)
	}
	for _, name := range Words() {
		value := map[string]string{"goodput": "> 1Gbit", "throughput": "> 1Gbit", "packets": "> 1kpps", "loss": "< 1%"}[name]
		if value == "" {
			value = "< 1ms"
		}
		if _, err := ParseGoal(name + value); err != nil {
			t.Error(err)
		}
	}
}

func TestWrongGoalsSayWhere(t *testing.T) {
	for text, want := range map[string][]string{
		"":                              {"is empty", "goodput > 10Gbit"},
		"  ":                            {"is empty"},
		"througput > 1Gbit":             {"column 1:", `did you mean "throughput"?`, "p99.9"},
		"goodput > 1Gbit, speed < 1ms":  {"column 18:", `"speed"`, "the words are goodput, throughput, packets, loss"},
		"goodput > 1Gbit,":              {"column 17:", "a clause is expected"},
		"goodput 10Gbit":                {"column 9:", "<, <=, > or >= is expected after goodput"},
		"goodput >":                     {"column 10:", "a value is missing after goodput"},
		"goodput > fast":                {"column 11:", `"fast"`, "10Gbit"},
		"goodput < 10Gbit":              {"column 9:", "is better the more it is; write >"},
		"p99 > 10us":                    {"column 5:", "is better the less it is; write <"},
		"p99 < 200":                     {"column 7:", "200us"},
		"p99 < -200us":                  {"column 7:", "is not a time"},
		"loss < 0.1":                    {"column 8:", "per cent"},
		"loss < 0%":                     {"column 8:", "write loss <= 0"},
		"loss < 200%":                   {"column 8:", "between 0% and 100%"},
		"packets > 10Gbit":              {"column 11:", "100kpps"},
		"goodput > 1Gbit, goodput > 2G": {"column 28:", `"2G"`},
		"p99 < 1ms, p99 < 2ms":          {"column 12:", "asked for twice"},
		"udp < 1ms":                     {"column 1:", `"udp"`},
		"µs < 1ms":                      {"column 1:"},
		"p99 ≤ µ":                       {"column 7:"},
	} {
		_, err := ParseGoal(text)
		if !errors.Is(err, ErrGoal) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %q, want %q in it", text, err, w)
			}
		}
	}
}

func FuzzParseGoal(f *testing.F) {
	for _, text := range []string{"throughput > 10Gbit, p99 < 200us", "loss<=0", "udp loss < 1%,,", "p99.9≤1ms", "latency latency <", ">", "\xff<1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGoal(text)
		if err != nil {
			if !errors.Is(err, ErrGoal) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, c := range g {
			if math.IsNaN(c.Bound) || math.IsInf(c.Bound, 0) || c.Bound < 0 || len(c.Metrics) == 0 || !strings.Contains(text, c.Text) {
				t.Errorf("%q: %+v", text, c)
			}
			again, err := ParseGoal(c.Text)
			if err != nil || len(again) != 1 || again[0].Bound != c.Bound || again[0].Word != c.Word {
				t.Errorf("%q of %q: %v %+v", c.Text, text, err, again)
			}
		}
		if !utf8.ValidString(text) {
			t.Logf("%q was read", text)
		}
	})
}
