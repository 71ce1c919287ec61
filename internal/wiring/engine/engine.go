// Package engine is the wiring that leaves it to a container engine to join the chain's two ends, by a network of its own
// (CNM): what its drivers make, or one that is there. Interfaces and addresses are the engine's.
package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/wiring"
)

// Wiring is the wiring by an engine's own network.
type Wiring struct{}

var _ wiring.OfEngine = Wiring{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "engine" }

// Attaches implements wiring.Attaching.
func (Wiring) Attaches() {}

// Can implements wiring.OfEngine: containerd leaves networks to others.
func (Wiring) Can(name string) bool { return name == engine.Docker || name == engine.Podman }

// Hosted implements wiring.OfEngine.
func (Wiring) Hosted(options any) bool {
	o := options.(*Options)
	return o.Driver == engine.HostNetwork || o.Network == engine.HostNetwork
}

// Named implements wiring.OfEngine.
func (Wiring) Named(options any) string { return options.(*Options).Network }

// Published implements wiring.OfEngine.
func (Wiring) Published(options any) api.PortRanges { return options.(*Options).Publish }

// mtu is the option of drivers for the MTU of what they make, which all that Docker has know.
const mtu = "com.docker.network.driver.mtu"

// bridge is the driver where none is named.
const bridge = "bridge"

// ends are how many a network has; one where the other is the machine.
const ends = 2

// over are the drivers of devices over an interface, which have the names of the features that they need.
var over = []string{feature.Macvlan, feature.IPvlan}

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	o := n.Options.(*Options)
	if o.Publish != "" && n.Driver != "" && n.Driver != bridge {
		return wiring.Joined{}, fmt.Errorf("network %s is of driver %s, and addresses are translated for a bridge's alone; leave publish out, or name another network", o.Network, n.Driver)
	}
	network := container.Network{Engine: n.Engine, Name: o.Network}
	if (Wiring{}).Hosted(o) {
		host := container.Network{Engine: n.Engine, Name: engine.HostNetwork}
		return wiring.Joined{
			Network: &host, Ends: make([]wiring.Ends, len(n.Hops)),
			Settings: map[string]string{"engine": n.Engine, "driver": engine.HostNetwork, "network": engine.HostNetwork, "interface": wiring.Loopback},
		}, nil
	}
	onMachine := slices.ContainsFunc(n.Hops, func(h wiring.Hop) bool { return len(h.Needs) < ends })
	if driver := cmp.Or(o.Driver, n.Driver); onMachine && slices.Contains(over, driver) {
		return wiring.Joined{}, fmt.Errorf("the machine's kernel does not send to what a network of driver %s has over an interface of the machine's own; have both endpoints be containers, or leave the driver out for a bridge", driver)
	}
	joined := wiring.Joined{Network: &network, Settings: map[string]string{"engine": n.Engine, "network": o.Network}}
	if n.Driver != "" {
		joined.Settings["driver"] = n.Driver
	}
	if o.Network == "" {
		network.Driver, network.Subnets, network.Options = bridge, o.Subnets, map[string]string{mtu: strconv.Itoa(n.MTU)}
		if o.Driver != "" {
			network.Driver = o.Driver
		}
		maps.Copy(network.Options, o.Options)
		network = network.Called(n.Owner)
		joined.Settings["driver"] = network.Driver
		joined.Settings["network"] = "the chain's own"
		if slices.Contains(over, o.Driver) {
			joined.Requires = append(joined.Requires, o.Driver)
			if o.Options["parent"] == "" && n.Engine == engine.Docker { // which makes one then that leads nowhere
				joined.Requires = append(joined.Requires, feature.Dummy)
			}
		}
	}
	for _, h := range n.Hops {
		of := wiring.Ends{B: h.Needs[len(h.Needs)-1]}
		if !onMachine {
			of.A = h.Needs[0]
		}
		joined.Ends = append(joined.Ends, of)
	}
	if o.Publish != "" {
		joined.Settings["published"] = string(o.Publish)
	}
	return joined, nil
}
