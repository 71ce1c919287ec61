package nearest

import "testing"

func TestHint(t *testing.T) {
	known := []string{"veth", "bridge", "macvlan"}
	for word, want := range map[string]string{
		"veht":    `; did you mean "veth"?`,
		"Bridge":  `; did you mean "bridge"?`,
		"mcvlan":  `; did you mean "macvlan"?`,
		"ovs":     "; choose from bridge, macvlan, veth",
		"":        "; choose from bridge, macvlan, veth",
		"gtet":    "; choose from bridge, macvlan, veth",
		"bridges": `; did you mean "bridge"?`,
	} {
		if got := Hint(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := Hint("x", []string{"netns", "netns"}[:1]); got != "; write netns" {
		t.Errorf("one known word: %q", got)
	}
	if got := Hint("x", nil); got != "" {
		t.Errorf("no known word: %q", got)
	}
}

func TestSuggested(t *testing.T) {
	known := []string{"veth", `a "b"?`}
	for word, want := range map[string]string{"veht": "veth", `a "b"`: `a "b"?`, "ovs": "", "": ""} {
		if got := Suggested("it is wrong" + Hint(word, known)); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Suggested("; did you mean nothing?"); got != "" {
		t.Error(got)
	}
}
