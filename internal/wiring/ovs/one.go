package ovs

import (
	"crypto/sha256"
	"encoding/binary"

	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/wiring"
)

// oneSwitch joins all hops by one switch.
func (j *joiner) oneSwitch() {
	s := ovs.SwitchSpec{Name: ovs.SwitchName(perChain), Joins: "all of " + j.Owner}
	if j.Outside {
		j.outer()
	}
	var sides [][2]side
	var needs []string
	for _, h := range j.Hops {
		a, b := j.sideOf(h.A, h.Needs), j.sideOf(h.B, h.Needs)
		sides = append(sides, [2]side{a, b})
		needs = append(needs, pairs(a, b)...)
		s.Ports = append(s.Ports, a.port, b.port)
		s.Flows = append(s.Flows, a.to(b), b.to(a))
	}
	s.Ports, needs = once(s.Ports), once(needs)
	id := j.addSwitch(s, needs)
	if j.Outside && j.Datapath == netdev {
		j.add(j.wire(id))
	}
	for i, h := range j.Hops {
		j.made.Ends = append(j.made.Ends, wiring.Ends{A: j.bring(sides[i][0], s.Name, id, h.Needs), B: j.bring(sides[i][1], s.Name, id, h.Needs)})
	}
}

// once has everything at its first place.
func once[T comparable](all []T) (out []T) {
	seen := map[T]bool{}
	for _, x := range all {
		if !seen[x] {
			seen[x], out = true, append(out, x)
		}
	}
	return out
}

// mostPorts is below 0xff00, where OpenFlow's own ports begin (OpenFlow 1.0, section
// 5.2.1).
const mostPorts = 0xfe00

// number of a port. It follows from the node's name, so that a function more or less
// leaves the others' ports as they are.
func (j *joiner) number(p wiring.Port) int {
	sum := sha256.Sum256([]byte(p.Node + "/" + p.Device))
	n := int(binary.BigEndian.Uint32(sum[:]) % mostPorts)
	for j.numbers[n] {
		n = (n + 1) % mostPorts
	}
	j.numbers[n] = true
	return n + 1
}
