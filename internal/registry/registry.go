// Package registry lists every wiring, function and traffic tool there is, one
// line each. Adding one means adding its package and its line.
package registry

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	bump "nfchain.dev/nfchain/internal/function/bridge"
	"nfchain.dev/nfchain/internal/function/command"
	"nfchain.dev/nfchain/internal/function/counter"
	"nfchain.dev/nfchain/internal/function/dpi"
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
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/traffic/fping"
	"nfchain.dev/nfchain/internal/traffic/iperf3"
	"nfchain.dev/nfchain/internal/traffic/netperf"
	"nfchain.dev/nfchain/internal/traffic/ping"
	"nfchain.dev/nfchain/internal/traffic/pktgen"
	"nfchain.dev/nfchain/internal/traffic/rfc6349"
	"nfchain.dev/nfchain/internal/traffic/rr"
	"nfchain.dev/nfchain/internal/traffic/sockperf"
	"nfchain.dev/nfchain/internal/traffic/testpmd"
	"nfchain.dev/nfchain/internal/traffic/web"
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

var wirings = []wiring.Wiring{veth.Wiring{}, bridge.Wiring{}, macvlan.Wiring{}, ipvlan.Wiring{}, ovs.Wiring{}, ebpf.Wiring{}, host.Wiring{}, pod.Wiring{}, cni.Wiring{}, engine.Wiring{}}

var functions = []function.Kind{
	forward.Kind{}, firewall.Kind{}, shaper.Kind{}, command.Kind{}, impair.Kind{}, nat.Kind{}, loadbalancer.Kind{}, mirror.Kind{}, bump.Kind{}, passthrough.Kind{},
	counter.Kind{}, drop.Kind{}, dscp.Kind{}, mark.Kind{}, ratelimit.Kind{}, dpi.Kind{},
}

// Tools in the order in which "auto" prefers them.
var Tools = []traffic.Tool{
	iperf3.Tool{}, sockperf.Tool{}, ping.Tool{}, builtin.Tool{},
	rr.Tool{}, rfc6349.Tool{}, web.Tool{}, fping.Tool{}, netperf.Tool{}, testpmd.Tool{}, pktgen.Tool{},
}

var runtimes = []string{api.RuntimeNetns, api.RuntimeInline, api.RuntimeDocker, api.RuntimeContainerd, api.RuntimePodman, api.RuntimeLXC, api.RuntimeCNI, api.RuntimeAuto}

// Plan is the catalogue that plans are made with.
func Plan() plan.Catalogue {
	c := plan.Catalogue{Wirings: map[string]wiring.Wiring{}, Functions: map[string]function.Kind{}}
	for _, w := range wirings {
		c.Wirings[w.Name()] = w
	}
	for _, k := range functions {
		c.Functions[k.Name()] = k
	}
	return c
}

// Words is the catalogue that files are read with.
func Words() api.Catalogue {
	c := api.Catalogue{Functions: map[string]func() any{}, Wirings: map[string]func() any{}, EndpointKind: plan.EndpointKind, Runtimes: runtimes}
	for _, w := range wirings {
		c.Wirings[w.Name()] = w.Options
		if _, can := w.(wiring.Sharing); can {
			c.Replicating = append(c.Replicating, w.Name())
		}
		if _, can := w.(wiring.Branching); can {
			c.Branching = append(c.Branching, w.Name())
		}
	}
	for _, k := range functions {
		c.Functions[k.Name()] = k.Options
	}
	for _, t := range Tools {
		c.Tools = append(c.Tools, t.Name())
	}
	return c
}

// Has tells whether there is a wiring, function kind or runtime of that name.
func Has(name string) bool {
	for _, w := range wirings {
		if w.Name() == name {
			return true
		}
	}
	for _, k := range functions {
		if k.Name() == name {
			return true
		}
	}
	return false
}
