// Package plantest reads chains and plans them for tests, with every wiring and
// function kind but no traffic tools.
package plantest

import (
	"fmt"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	bump "nfchain.dev/nfchain/internal/function/bridge"
	"nfchain.dev/nfchain/internal/function/command"
	"nfchain.dev/nfchain/internal/function/counter"
	"nfchain.dev/nfchain/internal/function/drop"
	"nfchain.dev/nfchain/internal/function/dscp"
	"nfchain.dev/nfchain/internal/function/firewall"
	"nfchain.dev/nfchain/internal/function/forward"
	"nfchain.dev/nfchain/internal/function/impair"
	"nfchain.dev/nfchain/internal/function/loadbalancer"
	"nfchain.dev/nfchain/internal/function/mark"
	"nfchain.dev/nfchain/internal/function/mirror"
	"nfchain.dev/nfchain/internal/function/nat"
	"nfchain.dev/nfchain/internal/function/passthrough"
	"nfchain.dev/nfchain/internal/function/ratelimit"
	"nfchain.dev/nfchain/internal/function/shaper"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/wiring"
	"nfchain.dev/nfchain/internal/wiring/bridge"
	"nfchain.dev/nfchain/internal/wiring/cni"
	"nfchain.dev/nfchain/internal/wiring/ebpf"
	"nfchain.dev/nfchain/internal/wiring/engine"
	"nfchain.dev/nfchain/internal/wiring/host"
	"nfchain.dev/nfchain/internal/wiring/ipvlan"
	"nfchain.dev/nfchain/internal/wiring/macvlan"
	"nfchain.dev/nfchain/internal/wiring/ovs"
	"nfchain.dev/nfchain/internal/wiring/pod"
	"nfchain.dev/nfchain/internal/wiring/veth"
)

// Catalogue to plan with.
func Catalogue() plan.Catalogue {
	c := plan.Catalogue{Wirings: map[string]wiring.Wiring{}, Functions: map[string]function.Kind{}}
	for _, w := range []wiring.Wiring{veth.Wiring{}, bridge.Wiring{}, macvlan.Wiring{}, ipvlan.Wiring{}, ovs.Wiring{}, ebpf.Wiring{}, host.Wiring{}, pod.Wiring{}, cni.Wiring{}, engine.Wiring{}} {
		c.Wirings[w.Name()] = w
	}
	for _, k := range []function.Kind{
		forward.Kind{}, firewall.Kind{}, shaper.Kind{}, command.Kind{}, impair.Kind{}, nat.Kind{}, loadbalancer.Kind{}, mirror.Kind{}, bump.Kind{}, passthrough.Kind{},
		counter.Kind{}, drop.Kind{}, dscp.Kind{}, mark.Kind{}, ratelimit.Kind{},
	} {
		c.Functions[k.Name()] = k
	}
	return c
}

// File reads a file.
func File(tb testing.TB, text string) *api.File {
	tb.Helper()
	words := api.Catalogue{Functions: map[string]func() any{}, Wirings: map[string]func() any{}, EndpointKind: plan.EndpointKind, Runtimes: []string{api.RuntimeNetns, api.RuntimeInline, api.RuntimeDocker, api.RuntimeContainerd, api.RuntimePodman, api.RuntimeLXC, api.RuntimeCNI, api.RuntimeAuto}}
	for name, k := range Catalogue().Functions {
		words.Functions[name] = k.Options
	}
	for name, w := range Catalogue().Wirings {
		words.Wirings[name] = w.Options
		if _, can := w.(wiring.Sharing); can {
			words.Replicating = append(words.Replicating, name)
		}
		if _, can := w.(wiring.Branching); can {
			words.Branching = append(words.Branching, name)
		}
	}
	file, err := words.Decode("test", []byte(text))
	if err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	return file
}

// Chain reads a chain from its name and the text of its spec.
func Chain(tb testing.TB, name, spec string) api.Chain {
	tb.Helper()
	return File(tb, "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: "+name+"}\nspec:\n"+indent(spec)).Chains[0]
}

// Function reads a standalone function from its name and the text of its spec.
func Function(tb testing.TB, name, spec string) api.StandaloneFunction {
	tb.Helper()
	return File(tb, "apiVersion: nfchain.dev/v1alpha1\nkind: ServiceFunction\nmetadata: {name: "+name+"}\nspec:\n"+indent(spec)).Functions[0]
}

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

// Forwards is the spec of a chain of n functions that only route.
func Forwards(n int) string {
	var b strings.Builder
	b.WriteString("functions:\n")
	for i := range n {
		fmt.Fprintf(&b, "- {name: f%d, kind: forward}\n", i)
	}
	return b.String()
}
