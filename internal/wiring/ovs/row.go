package ovs

import (
	"fmt"
	"strconv"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/wiring"
)

// The ports of a switch in a row.
const west, east = 1, 2

// row joins a hop by switches of its own.
func (j *joiner) row(h wiring.Hop) {
	a, b := j.side(h.A, west, h.Needs), j.side(h.B, east, h.Needs)
	var names []string
	for i := range j.Switches {
		names = append(names, ovs.SwitchName(h.A.Node, h.A.Device, h.B.Node, h.B.Device, strconv.Itoa(i)))
	}
	var ids []string
	left, leftNeeds := a.port, pairs(a)
	for i, name := range names {
		right, needs, next := b.port, pairs(b), ovs.Port{}
		var nextNeeds []string
		if i+1 < len(names) {
			right, next, needs = j.trunk(name, names[i+1])
			nextNeeds = needs
		}
		ids = append(ids, j.addSwitch(ovs.SwitchSpec{
			Name: name, Joins: fmt.Sprintf("%s %d", joins(h), i+1), Ports: []ovs.Port{left, right},
			Flows: []string{through(west, east), through(east, west)},
		}, append(leftNeeds, needs...)))
		left, leftNeeds = next, nextNeeds
	}
	last := len(names) - 1
	j.made.Ends = append(j.made.Ends, wiring.Ends{A: j.bring(a, names[0], ids[0], h.Needs), B: j.bring(b, names[last], ids[last], h.Needs)})
}

// trunk joins two switches: the east port of one and the west port of the next, and the
// ID of the pair that they are ends of, if they are.
func (j *joiner) trunk(from, to string) (out, in ovs.Port, needs []string) {
	out = ovs.Port{Name: from + "e", Number: east, Type: ovs.Patch, Peer: to + "w"}
	in = ovs.Port{Name: to + "w", Number: west, Type: ovs.Patch, Peer: from + "e"}
	if j.SwitchToSwitch == patch {
		return out, in, nil
	}
	out.Type, out.Peer, in.Type, in.Peer = ovs.Device, "", ovs.Device, ""
	pair := resource.New(j.Namespace, link.Spec{Owner: j.Owner, MTU: j.MTU, A: j.Own(out.Name), B: j.Own(in.Name)}, j.home)
	j.add(pair)
	return out, in, []string{pair.ID}
}
