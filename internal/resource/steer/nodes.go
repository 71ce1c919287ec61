package steer

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/branch"
	"nfchain.dev/nfchain/internal/resource/held"
)

// The maps of what is known of nodes at a port where ways part or come together, while some fail, and of what was led past them.
const (
	nodesMap = "nodes"
	pastMap  = "past"
)

// Node is what a port where ways part or come together knows of a node to which packets may come from there while some fail.
type Node struct {
	// Port that it is behind, by its number; of a function with replicas what stands in the place of one (Port.Shared).
	Port uint32
	// Joint tells that several ways come together at it.
	Joint bool
	// Fails is what becomes of packets to it.
	Fails Fails
	// Next is the number of the node that they are led on to, past it; back from a joint, if it is not known which way
	// their flow came.
	Next uint32
}

// Fails is what becomes of packets to a node.
type Fails uint32

const (
	// Well is a node that takes packets.
	Well Fails = iota
	// Ends has them end before it.
	Ends
	// Past leads them past it.
	Past
)

// anyFails tells whether one of several nodes does.
func anyFails(nodes map[uint32]Node) bool {
	for _, n := range nodes {
		if n.Fails != Well {
			return true
		}
	}
	return false
}

// Parts tells whether packets go on from the port to several nodes, by labels or by their flows, or to and from one where others
// come to: what becomes of those to each is said by itself then.
func (p *Port) Parts() bool { return p.at.Maps[nodesMap] != nil }

// Nodes that the port knows of, by their numbers. What becomes of packets to those that fail is as they say while Instead says so.
func (p *Port) Nodes() (map[uint32]Node, error) { return p.at.nodes() }

func (a *attached) nodes() (map[uint32]Node, error) { return nodesOf(a.Maps[nodesMap]) }

// told is what a program was told of nodes; nil where there is none.
func (a *attached) told() *ebpf.Map {
	if a == nil {
		return nil
	}
	return a.Maps[nodesMap]
}

func nodesOf(table *ebpf.Map) (map[uint32]Node, error) {
	nodes := map[uint32]Node{}
	return nodes, eachOf(table, func(number uint32, n branch.ProgramNode) {
		nodes[number] = Node{Port: n.Port, Joint: n.Joint != 0, Fails: Fails(n.Fails), Next: n.Next}
	})
}

// SetNodes has the port know of these nodes alone, to which packets go on, end before them, or are led past them. No
// packet comes to where nothing is known.
func (p *Port) SetNodes(nodes map[uint32]Node) error {
	was, err := p.Nodes()
	if err != nil {
		return err
	}
	return errors.Join(putNodes(p.at.Maps[nodesMap], p.at.Maps[insteadMap], was, nodes), p.forget(was, nodes))
}

// made for the program.
func (n Node) made() branch.ProgramNode {
	made := branch.ProgramNode{Port: n.Port, Fails: uint32(n.Fails), Next: n.Next}
	if n.Joint {
		made.Joint = 1
	}
	return made
}

// putNodes that are not there so. Where none fails any more, nobody looks at them from then on.
func putNodes(table, instead *ebpf.Map, was, nodes map[uint32]Node) (err error) {
	fails := anyFails(nodes)
	if !fails {
		err = instead.Put(uint32(0), uint32(0))
	}
	for _, number := range inTurn(was, nodes) {
		if known, is := was[number]; !is || known != nodes[number] {
			err = errors.Join(err, table.Put(number, nodes[number].made()))
		}
	}
	if fails {
		err = errors.Join(err, instead.Put(uint32(0), uint32(Replicas)))
	}
	return err
}

// inTurn are the numbers of nodes as they are written: first those that are as if they were well from then on, each behind those past which
// packets were led on to it, since what nothing leads to any more may fail still; then others, each behind the one that packets are led on
// to past it.
func inTurn(was, nodes map[uint32]Node) []uint32 {
	turn := func(number uint32) int {
		if was[number].Fails != Well && nodes[number].Fails == Well {
			return -pastFrom(was, number)
		}
		return pastFrom(nodes, number)
	}
	return slices.SortedFunc(maps.Keys(nodes), func(a, b uint32) int { return cmp.Compare(turn(a), turn(b)) })
}

// pastFrom a node on, packets are led past so many.
func pastFrom(nodes map[uint32]Node, number uint32) (many int) {
	for n := nodes[number]; n.Fails == Past && many <= len(nodes); n = nodes[n.Next] {
		many++
	}
	return many
}

// forget nodes that were known, and those last that packets were led on to.
func (p *Port) forget(was, nodes map[uint32]Node) (err error) {
	gone := maps.Clone(was)
	maps.DeleteFunc(gone, func(number uint32, _ Node) bool { _, stays := nodes[number]; return stays })
	for _, failing := range []bool{true, false} {
		if len(gone) > 0 {
			held.ReadersEnded() // no packet that was led here is on its way any more
		}
		for number, n := range gone {
			if (n.Fails != Well) != failing {
				continue
			}
			delete(gone, number)
			if wrong := p.at.Maps[nodesMap].Delete(number); !errors.Is(wrong, ebpf.ErrKeyNotExist) {
				err = errors.Join(err, wrong)
			}
		}
	}
	return err
}
