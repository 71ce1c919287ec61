package run

import (
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// TestBecomes: who has a function become what is made anew where it is hears of it, and nobody else does.
func TestBecomes(t *testing.T) {
	of := func(kind, runtime, encapsulation string) api.Function {
		return api.Function{Name: "f", FunctionBody: api.FunctionBody{Kind: kind, Runtime: runtime}, Encapsulation: encapsulation}
	}
	for want, c := range map[string]struct {
		old, now      api.Function
		before, after api.ChainSpec
		was, is       map[string]string
	}{
		"":                                     {old: of("forward", "", ""), now: of("forward", "netns", "")},
		"was a firewall and becomes a forward": {old: of("firewall", "", ""), now: of("forward", "", "")},
		"was in runtime netns and comes to be in docker": {old: of("forward", "", ""), now: of("forward", "docker", "")},
		"was in runtime docker and comes to be in netns": {old: of("forward", "", ""), now: of("forward", "netns", ""), before: api.ChainSpec{Runtime: "docker"}},
		"was in runtime lxc and comes to be in podman":   {old: of("forward", "auto", ""), now: of("forward", "auto", ""), was: map[string]string{"f": "lxc"}, is: map[string]string{"f": "podman"}},
		"comes to get headers (encapsulation: nsh)":      {old: of("command", "", ""), now: of("command", "", "nsh")},
		"gets headers (encapsulation: nsh) no more":      {old: of("command", "", "nsh"), now: of("command", "", "")},
	} {
		if got := becomes(c.old, c.now, runtimeOf(c.before, c.old, c.was), runtimeOf(c.after, c.now, c.is)); got != want {
			t.Errorf("what %+v becomes as %+v is %q, want %q", c.old, c.now, got, want)
		}
	}
	for _, runtimes := range [][2]string{{"inline", "netns"}, {"netns", "inline"}, {"inline", "inline"}} {
		if got := becomes(of("counter", runtimes[0], ""), of("dscp", runtimes[1], ""), runtimes[0], runtimes[1]); got != "" {
			t.Errorf("from %s to %s is told: %s", runtimes[0], runtimes[1], got)
		}
	}
}
