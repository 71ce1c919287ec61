package bridge

import (
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource"
)

// PortSpec of an interface as a port of a bridge. It lives in the bridge's namespace.
type PortSpec struct {
	Bridge string `json:"bridge"`
	Device string `json:"device"`
	// MAC is whom the port leads to, and Also others who are there.
	MAC  string   `json:"mac"`
	Also []string `json:"also,omitempty"`
	// Learns tells that the bridge finds out by itself who is at the port, and sends to
	// it what is for nobody it knows. Otherwise it is told.
	Learns bool `json:"learns"`
	// Floods tells that the port is given what is for many: multicast and broadcast.
	Floods bool `json:"floods"`
	// Hairpin lets what came in by the port leave by it again.
	Hairpin bool `json:"hairpin,omitempty"`
}

// Kind implements resource.Spec.
func (PortSpec) Kind() string { return PortKindName }

// Key is the interface's name.
func (s PortSpec) Key() string { return s.Device }

// Fingerprint is the bridge, how the port is set, and who is said to be there.
func (s PortSpec) Fingerprint() string {
	return seenPort{learning: s.Learns, unknown: s.Learns, multicast: s.Floods, broadcast: s.Floods, hairpin: s.Hairpin, state: forwarding}.fingerprint(s.Bridge, s.told())
}

// told are the addresses that the bridge is told of.
func (s PortSpec) told() []string {
	if s.Learns {
		return nil
	}
	return slices.Sorted(slices.Values(append([]string{s.MAC}, s.Also...)))
}

func (p seenPort) fingerprint(bridge string, told []string) string {
	text := fmt.Sprintf("of %s leads to %v learning=%t flood=%t,%t,%t stopped=%t",
		bridge, told, p.learning, p.unknown, p.multicast, p.broadcast, p.stopped())
	if p.hairpin {
		text += " hairpin"
	}
	return text
}

// Commands implements resource.Spec.
func (s PortSpec) Commands(ns string) []resource.Command {
	commands := []resource.Command{
		resource.IP(ns, "link", "set", s.Device, "master", s.Bridge),
		resource.IP(ns, "link", "set", s.Device, "type", "bridge_slave", "learning", onOff(s.Learns), "flood", onOff(s.Learns),
			"mcast_flood", onOff(s.Floods), "bcast_flood", onOff(s.Floods)),
	}
	if s.Hairpin {
		commands = append(commands, resource.IP(ns, "link", "set", s.Device, "type", "bridge_slave", "hairpin", "on"))
	}
	for _, mac := range s.told() {
		commands = append(commands, resource.In(ns, "bridge", "fdb", "replace", mac, "dev", s.Device, "master", "static"))
	}
	return commands
}
