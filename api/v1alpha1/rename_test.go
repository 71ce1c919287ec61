package v1alpha1

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// waiting is what a program waits for.
type waiting []string

func (w waiting) Follows() (string, []string)  { return "after", w }
func (w waiting) Following(nodes []string) any { return waiting(nodes) }

// TestRenamed functions have their new names wherever a chain has them, and the chain that there was stays as it is.
func TestRenamed(t *testing.T) {
	chain := ChainSpec{
		Endpoints: []Endpoint{{Name: "client", Options: map[string]any{"command": waiting{"f", "g"}}}, {Name: "f2"}},
		Functions: []Function{
			{Name: "e", Next: "f", Branches: []Branch{{To: "g"}, {To: "f"}}},
			{Name: "f", FunctionBody: FunctionBody{Options: waiting{"e"}}},
			{Name: "g", FunctionBody: FunctionBody{Options: waiting{"f"}}},
		},
		Classifier: &Classifier{Rules: []PathRule{{Name: "some", Functions: []string{"f", "e"}}, {Name: "none", Functions: []string{}}}},
		Everywhere: []Everywhere{{Except: []string{"client", "f"}}},
	}
	text := func(s ChainSpec) string {
		t.Helper()
		var all []string
		for _, part := range []any{s.Functions, s.Classifier, s.Everywhere} {
			line, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(line))
		}
		return strings.Join(all, "\n")
	}
	before := text(chain)
	is := chain.Renamed(map[string]string{"f": "f.2"})
	want := strings.ReplaceAll(before, `"f"`, `"f.2"`)
	if got := text(is); got != want {
		t.Errorf("%s\n\nwant\n%s", got, want)
	}
	for _, o := range []struct{ got, want any }{
		{is.Endpoints[0].Options["command"], waiting{"f", "g"}}, {is.Functions[1].Options, waiting{"e"}}, {is.Functions[2].Options, waiting{"f"}},
	} {
		if !reflect.DeepEqual(o.got, o.want) {
			t.Errorf("%v, want %v", o.got, o.want)
		}
	}
	if is.Classifier.Rules[1].Functions == nil {
		t.Error("the direct way is no rule's any more")
	}
	if got := text(chain); got != before {
		t.Errorf("the chain that there was is another:\n%s", got)
	}
	if text(chain.Renamed(nil)) != before {
		t.Error("with no other names it is another")
	}
}
