package ovs

import (
	"fmt"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/wiring"
)

// outer makes the card that the ends are behind, with one port at the switch.
func (j *joiner) outer() {
	j.card = j.Card(j.home, ovs.PortName(j.Node, wiring.CardPort))
	j.cardPort = ovs.Port{Name: j.card.Port, Number: j.number(wiring.Port{Node: j.Node, Device: wiring.CardPort}), Type: ovs.Device}
	j.add(j.card.Resource)
}

// sideOf a hop at the one switch, with a port of its own, or behind the card's.
func (j *joiner) sideOf(p wiring.Port, needs []string) side {
	if !j.Outside || !j.IsEnd(p) {
		return j.side(p, j.number(p), needs)
	}
	end := j.card.End(p, needs)
	j.add(end)
	return side{Port: p, port: j.cardPort, pair: j.card.ID, end: end.ID}
}

// wire has the far side of the card compute the checksums of what the ends send, whose
// devices are over it: the datapath in user space reads packets as they are. The ID is that of
// the switch.
func (j *joiner) wire(id string) resource.Resource {
	return resource.New(j.Namespace, ovs.PortSpec{Owner: j.Owner, Node: j.Node, Device: j.card.Wire, Port: j.cardPort}, id, j.card.ID)
}

// turns is the action of a flow that leaves by the port that it came in by, which "output"
// never does (OpenFlow 1.0, section 3.3).
const turns = " actions=IN_PORT"

// to is the flow from one side of a hop to the other. What comes in by the card may be for
// several, and goes by whom it is for.
func (s side) to(other side) string {
	switch {
	case s.end == "":
		return through(s.port.Number, other.port.Number)
	case other.end == "":
		return fmt.Sprintf("in_port=%d,dl_dst=%s actions=output:%d", s.port.Number, other.MAC, other.port.Number)
	}
	return fmt.Sprintf("in_port=%d,dl_dst=%s%s", s.port.Number, other.MAC, turns)
}

// turning are those flows by which ends outside reach each other. A switch that learns
// never sends a packet back where it came from.
func turning(flows []string) (out []string) {
	for _, f := range flows {
		if strings.HasSuffix(f, turns) {
			out = append(out, f)
		}
	}
	return out
}
