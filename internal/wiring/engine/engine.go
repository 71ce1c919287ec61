// Package engine is the wiring that leaves it to a container engine to join the chain's two ends, by a network of its own
// (CNM): what its drivers make, or one that is there. Interfaces and addresses are the engine's.
package engine

import (
	"maps"
	"strconv"

	"nfchain.dev/nfchain/internal/engine"
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

// Named implements wiring.OfEngine.
func (Wiring) Named(options any) string { return options.(*Options).Network }

// mtu is the option of drivers for the MTU of what they make, which all that Docker has know.
const mtu = "com.docker.network.driver.mtu"

// bridge is the driver where none is named.
const bridge = "bridge"

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	o := n.Options.(*Options)
	network := container.Network{Engine: n.Engine, Name: o.Network}
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
	}
	for _, h := range n.Hops {
		joined.Ends = append(joined.Ends, wiring.Ends{A: h.Needs[0], B: h.Needs[1]})
	}
	return joined, nil
}
