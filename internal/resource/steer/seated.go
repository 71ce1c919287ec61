package steer

import (
	"errors"

	"github.com/cilium/ebpf"
)

// seated translates what stands for functions with replicas at one port's program, which are seats of its own, into what all ports know:
// the port of the first of the replicas that the chain is to have.
type seated struct {
	// first are these ports, by what stands in their place here.
	first map[uint32]uint32
	// seat is what stands here in the place of a port that a replica is behind.
	seat map[uint32]uint32
}

// seated is it of a program's seats, whose replicas' ports are noted as such.
func (d detoured) seated(t seats) (at seated, err error) {
	at = seated{map[uint32]uint32{}, map[uint32]uint32{}}
	for _, seat := range t.taken {
		indexes, err := t.at(seat).indexes()
		if err != nil {
			return at, err
		}
		for n := 1; n <= Most; n++ {
			index, is := indexes[n]
			if !is {
				continue
			}
			d.replicas[index], at.seat[index] = true, Replicas-seat
			if _, wanted := d.places[index]; wanted && at.first[Replicas-seat] == 0 {
				at.first[Replicas-seat] = index
			}
		}
	}
	return at, nil
}

// of what stands in the place of a port; 0 for a function that has no replica that is to be.
func (t seated) of(number uint32) uint32 {
	if _, shared := seatOf(number); shared {
		return t.first[number]
	}
	return number
}

// common are nodes of the port as all know them.
func (t seated) common(nodes map[uint32]Node) map[uint32]Node {
	return moved(nodes, t.of)
}

// local are nodes that all know, as they are at the port.
func (t seated) local(nodes map[uint32]Node) map[uint32]Node {
	return moved(nodes, func(port uint32) uint32 {
		if seat := t.seat[port]; seat != 0 {
			return seat
		}
		return port
	})
}

// moved nodes are behind other ports.
func moved(nodes map[uint32]Node, to func(port uint32) uint32) map[uint32]Node {
	all := make(map[uint32]Node, len(nodes))
	for number, n := range nodes {
		n.Port = to(n.Port)
		all[number] = n
	}
	return all
}

// vacate the seats of functions that are no longer wanted at a port where ways part or come together, of which this is told. One that
// packets are led to past what fails is left, as none of the spec's, and nobody is led to another later by what was told of it.
func (t seats) vacate(wanted []Among, told *ebpf.Map) error {
	wants := map[string]bool{}
	for _, a := range wanted {
		wants[table(a.Of)] = true
	}
	if len(t.taken) == len(wants) {
		return nil
	}
	nodes, err := nodesOf(told)
	if err != nil {
		return err
	}
	leads, left := ledTo(nodes), []string(nil)
	for name, seat := range t.taken {
		switch at := Replicas - seat; {
		case wants[name]:
		case leads[at]:
			err = errors.Join(err, t.at(seat).note(true))
		default:
			err = errors.Join(err, forgetAt(told, nodes, at))
			left = append(left, name)
		}
	}
	return errors.Join(err, t.leaveAll(left))
}

// ledTo is what packets are led to past what fails, by what stands for it.
func ledTo(nodes map[uint32]Node) map[uint32]bool {
	leads := map[uint32]bool{}
	for _, n := range nodes {
		if n.Fails == Past {
			leads[nodes[n.Next].Port] = true
		}
	}
	return leads
}

// forgetAt is to forget nodes that are at a port, or at a seat.
func forgetAt(told *ebpf.Map, nodes map[uint32]Node, at uint32) (err error) {
	for number, n := range nodes {
		if n.Port != at {
			continue
		}
		if wrong := told.Delete(number); !errors.Is(wrong, ebpf.ErrKeyNotExist) {
			err = errors.Join(err, wrong)
		}
	}
	return err
}
