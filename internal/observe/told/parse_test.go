package told

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// whole has all that the format has for counters and gauges.
const whole = `# Made by hand.
# HELP dpi_packets_total Packets by \\ application.
# TYPE dpi_packets_total counter
dpi_packets_total{application="HTTP",verdict="passed"} 12
dpi_packets_total{ verdict = "block\"ed" , application="TLS.Google", } 1e3 1600000000000

# TYPE load gauge
load -0.5
bare 7
# TYPE other counter
# HELP other Of OpenMetrics.
other_total 3
# TYPE empty gauge
# EOF
`

func TestParse(t *testing.T) {
	families, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(families)
	const want = `[{"name":"dpi_packets_total","type":"counter","help":"Packets by \\ application.","values":[` +
		`{"labels":{"application":"HTTP","verdict":"passed"},"value":12},{"labels":{"application":"TLS.Google","verdict":"block\"ed"},"value":1000}]},` +
		`{"name":"load","type":"gauge","values":[{"labels":{},"value":-0.5}]},` +
		`{"name":"bare","type":"unknown","values":[{"labels":{},"value":7}]},` +
		`{"name":"other_total","type":"counter","help":"Of OpenMetrics.","values":[{"labels":{},"value":3}]}]`
	if string(text) != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if got := families[0].Values[1].Labels.Text(); got != `{application="TLS.Google",verdict="block\"ed"}` {
		t.Error(got)
	}
	if none, err := Parse(nil); err != nil || none == nil || len(none) > 0 {
		t.Errorf("of nothing: %v, %v", none, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"a":                               "line 1: a has no value",
		"a 1\nb x":                        `line 2: the value of b is "x"`,
		"a NaN":                           `the value of a is "NaN"`,
		"a +Inf":                          "write a number",
		"a 1 2 3":                         "a has no value",
		"{a=\"b\"} 1":                     `"" is not a name`,
		"9a 1":                            `"9a" is not a name`,
		"a\x1b[2J 1":                      `"a\x1b[2J" is not a name`,
		"a{b=\"\x1b[2J\"} 1":              `label b: "\x1b[2J" cannot be printed`,
		"a{b=\"\xff\"} 1":                 "cannot be printed",
		"a{b=\"\u202e\"} 1":               "cannot be printed",
		"a{b=c} 1":                        "no quotation marks",
		"a{b=\"c} 1":                      "no quotation marks",
		"a{b=\"c\\\"} 1":                  "no quotation marks",
		"a{b=\"c\"d=\"e\"} 1":             "write a comma or }",
		"a{b=\"c\",b=\"d\"} 1":            "label b is there twice",
		"a{b} 1":                          "is no label",
		"a{b=\"c\"":                       "write a comma or }",
		"a{node=\"x\"} 1":                 "label node is not a program's",
		"a{__name__=\"x\"} 1":             "not a program's",
		"a 1\na_total 1":                  "a and a_total are the same",
		"nfchain_up 1":                    "is nfchain's own",
		"nfchain 1":                       "is nfchain's own",
		"_total 1":                        "_total leaves no name",
		"# TYPE _total counter\n_total 1": "_total leaves no name",
		"a{b=\"\"} 1\na 1":                "is there twice",
		"a 1\na 2":                        `line 2: "a" is there twice`,
		"a{b=\"c\",d=\"e\"} 1\na{d=\"e\",b=\"c\"} 2": "is there twice",
		"# TYPE a histogram":                         `of type "histogram"; tell counters and gauges`,
		"a 1\n# TYPE a counter":                      "comes behind its values",
		"# TYPE a counter\na -1":                     "less than 0",
		"# HELP a " + strings.Repeat("x", 201):       "help of a: it is longer than 200 bytes",
		"# HELP a \x07":                              "cannot be printed",
		strings.Repeat("x", mostBytes+1):             "it is longer than",
		strings.Repeat("a", 201) + " 1":              "is not a name",
		"a{" + many(mostLabels+1, `l%d="",`) + "} 1": "more than 16",
		many(mostValues+1, "a{b=\"%d\"} 1\n"):        "more than 2000 values",
		many(mostValues+1, "# TYPE a%d gauge\n"):     "more than 2000 families",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v; want %q", text, err, want)
		}
	}
}

func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// FuzzParse holds what is taken to its bounds, and to being the same when it is told again.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("a{b=\"c\\\\\"} 1\n# TYPE a counter\n# TYPE b counter\nb_total 1\n# TYPE b_total gauge\nb 2")
	f.Fuzz(func(t *testing.T, text string) {
		families, err := Parse([]byte(text))
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("an error that cannot be printed: %q", err)
			}
			return
		}
		var again strings.Builder
		for _, family := range families {
			if len(family.Values) == 0 {
				t.Errorf("%s is empty", family.Name)
			}
			fmt.Fprintf(&again, "# TYPE %s %s\n", family.Name, family.Type)
			for _, v := range family.Values {
				fmt.Fprintf(&again, "%s%s %g\n", family.Name, v.Labels.Text(), v.Value)
			}
		}
		told, err := Parse([]byte(again.String()))
		if again.Len() > mostBytes {
			return
		}
		if err != nil {
			t.Fatalf("told again: %v\n%s", err, again.String())
		}
		for i := range families {
			families[i].Help = ""
		}
		if a, b := fmt.Sprint(families), fmt.Sprint(told); a != b {
			t.Errorf("told again: %s\nwas: %s", b, a)
		}
	})
}
