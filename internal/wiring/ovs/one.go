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
	var sides [][2]side
	var needs []string
	for _, h := range j.Hops {
		a, b := j.side(h.A, j.number(h.A), h.Needs), j.side(h.B, j.number(h.B), h.Needs)
		sides = append(sides, [2]side{a, b})
		needs = append(needs, pairs(a, b)...)
		s.Ports = append(s.Ports, a.port, b.port)
		s.Flows = append(s.Flows, through(a.port.Number, b.port.Number), through(b.port.Number, a.port.Number))
	}
	id := j.addSwitch(s, needs)
	for i, h := range j.Hops {
		j.made.Ends = append(j.made.Ends, wiring.Ends{A: j.bring(sides[i][0], s.Name, id, h.Needs), B: j.bring(sides[i][1], s.Name, id, h.Needs)})
	}
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
