package strict

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

type part struct {
	Port uint16 `json:"port" jsonschema:"minimum=1"`
	Name string `json:"name,omitempty"`
}

// SetDefaults is asked for list items and pointers.
func (p *part) SetDefaults() { p.Name = "default" }

// pick has a share among its fields.
type pick struct {
	Every int     `json:"every"`
	Ratio float64 `json:"ratio" jsonschema:"minimum=0,maximum=1"`
}

type whole struct {
	part                    // inlined
	Address  netip.Addr     `json:"address"`
	Parts    []part         `json:"parts"`
	Pointer  *part          `json:"pointer"`
	Weights  map[string]int `json:"weights"`
	Anything any            `json:"anything"`
	Ratio    float32        `json:"ratio"`
	Share    float64        `json:"share" jsonschema:"minimum=0,maximum=1"`
	Pick     pick           `json:"pick"`
	Channel  chan int       `json:"channel"`
	Hidden   string         `json:"-"`
}

func decode(t *testing.T, text string) (whole, []string) {
	t.Helper()
	docs, errs := tree.Parse([]byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	d, w := New(), whole{}
	d.Decode(docs[0], &w)
	var problems []string
	for _, p := range d.Problems {
		problems = append(problems, p.Path+": "+p.Message)
	}
	return w, problems
}

func TestDecode(t *testing.T) {
	got, problems := decode(t, `
port: 80
address: 10.0.0.1
parts: [{port: 1}, {port: +2, name: two}]
pointer: {port: 3}
weights: {a: 1, b: -2}
anything: {a: [1, 1.5, true, x, ~], b: {}}
ratio: 1e-1
`)
	want := whole{
		part:     part{Port: 80},
		Address:  netip.MustParseAddr("10.0.0.1"),
		Parts:    []part{{1, "default"}, {2, "two"}},
		Pointer:  &part{3, "default"},
		Weights:  map[string]int{"a": 1, "b": -2},
		Anything: map[string]any{"a": []any{1, 1.5, true, "x", nil}, "b": map[string]any{}},
		Ratio:    0.1,
	}
	// An item that is empty is the only problem.
	if want := []string{"anything.a[4]: is empty"}; !reflect.DeepEqual(problems, want) {
		t.Errorf("problems %q, want %q", problems, want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"port: -1":                          "port: a whole number, not negative, is expected",
		"port: 65536":                       "port: \"65536\" is too large a number",
		"port: 0":                           "port: 0 is too small; at least 1",
		"address: 10.0.0.256":               "address: ParseAddr",
		"address: {}":                       "address: text is expected, found a mapping",
		"ratio: 1e99":                       "ratio: \"1e99\" is too large a number",
		"share: 12.5%":                      "share: a number is expected, found text \"12.5%\"; write 0.125",
		"share: 5 %":                        "share: a number is expected, found text \"5 %\"; write 0.05",
		"share: 101%":                       "share: a number is expected, found text \"101%\"\n",
		"ratio: 10%":                        "ratio: a number is expected, found text \"10%\"\n",
		"pick: 10%":                         "pick: a mapping is expected, found text \"10%\"; write {ratio: 0.1}",
		"pick: 0.5":                         "pick: a mapping is expected, found the number \"0.5\"; write {ratio: 0.5}",
		"pick: often":                       "pick: a mapping is expected, found text \"often\"\n",
		"pick: [1%]":                        "pick: a mapping is expected, found a list\n",
		"ratio: .nan":                       "ratio: a number is expected, found text \".nan\"",
		"weights: {a: 1, a: 2, b: }":        "weights.a: is already given in line 1; weights.b: is empty",
		"anything: 99999999999999999999999": "anything: \"99999999999999999999999\" is too large a number",
		"channel: 1":                        "channel: cannot be read from a file (chan int)",
		"Hidden: x":                         "Hidden: unknown field; choose from",
		"parts: [{prot: 1}]":                "parts[0].prot: unknown field; did you mean \"port\"?",
		"\"a.b\": 1":                        "[\"a.b\"]: unknown field",
		"- 1":                               ": a mapping is expected, found a list",
	} {
		_, problems := decode(t, text)
		got := strings.Join(problems, "; ") + "\n"
		if len(problems) == 0 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
