package process

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// Path of packets over a forwarder, through functions that are watched.
type Path struct {
	// Forwarder is the namespace that the ports are in.
	Forwarder string `json:"forwarder"`
	// Nodes in path order, both ends among them.
	Nodes []Watched `json:"nodes"`
	// Paths by which packets go, where a classifier chooses; none where all go by all nodes.
	Paths []ServicePath `json:"paths,omitempty"`
}

// ServicePath is one of several through a chain (RFC 7665).
type ServicePath struct {
	// Name and Number by which ports know it.
	Name   string `json:"name"`
	Number int    `json:"number"`
	// Nodes that packets are in, by their places in the chain's order, both ends among them; of a function with replicas
	// all of these.
	Nodes []int `json:"nodes"`
	// Back are those that packets are in on their way back; none where that are all.
	Back []int `json:"back,omitempty"`
}

// Watched is a node of a path, whether it is watched or not.
type Watched struct {
	Node string `json:"node"`
	// West and East are the ports in front of the node; an end has one of them.
	West string `json:"west,omitempty"`
	East string `json:"east,omitempty"`
	// PastWest and PastEast are the ends of a pair beside the node, by which packets are led past it from the west and from the
	// east; "" where they go to the port of the next one. What is sent into one comes in at the other, as at the node's port.
	PastWest string `json:"past_west,omitempty"`
	PastEast string `json:"past_east,omitempty"`
	// Of is the function that the node is a replica of, by its Number and Weight; "" for a node that
	// is none. All replicas of a function are next to each other.
	Of     string `json:"of,omitempty"`
	Number int    `json:"number,omitempty"`
	Weight int    `json:"weight,omitempty"`
	// OnFailure is what becomes of packets when the node fails, and all other replicas of its function
	// have, too: Bypass, Block or Replica; "" for a node that is not watched.
	OnFailure string `json:"on_failure,omitempty"`
	// Onward are the places of the nodes to which packets go on from the node, the planned one first, Back those from which they
	// come to it, and Label is the number by which ports know it, where ways part; none where all nodes are in a line.
	Onward []int  `json:"onward,omitempty"`
	Back   []int  `json:"back,omitempty"`
	Label  uint32 `json:"label,omitempty"`
	// OneWay tells that what goes from the second endpoint to the first does not come by the node.
	OneWay bool `json:"one_way,omitempty"`
	// Version is a digest of what the node is: another one may let through what this one does
	// not.
	Version string `json:"version,omitempty"`
	// Programs without which the node has failed.
	Programs []string `json:"programs,omitempty"`
	// Eastward and Westward are what probes are like that go in by the western port and by
	// the eastern one; there is no westward one of a node that is one-way.
	Eastward *Probe `json:"eastward,omitempty"`
	Westward *Probe `json:"westward,omitempty"`
	// OtherEastward and OtherWestward are the same in the other family of addresses; nil where the ends have one.
	OtherEastward *Probe `json:"other_eastward,omitempty"`
	OtherWestward *Probe `json:"other_westward,omitempty"`
}

// What becomes of packets when a function fails, with all replicas that it has. While others are well,
// the flows of one that failed go to those.
const (
	Bypass  = "bypass"  // they go on to the next one
	Block   = "block"   // they end before it
	Replica = "replica" // they go on to it
)

// Probe is a packet as the node would get it from the one end for the other.
type Probe struct {
	FromMAC string     `json:"from_mac"`
	ToMAC   string     `json:"to_mac"`
	From    netip.Addr `json:"from"`
	To      netip.Addr `json:"to"`
}

// Fingerprint is a digest of the whole path, which the supervisor gives back.
func (p Path) Fingerprint() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // a Path is plain data
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// What is known of a watched function.
const (
	Unproven = "unproven" // no probe has come through: only its programs and ports tell
	Healthy  = "healthy"
	Failed   = "failed"
)

// Health of a watched function.
type Health struct {
	Node string `json:"node"`
	// Version of what the function is made of, as a plan has it.
	Version string `json:"version,omitempty"`
	// State is Unproven, Healthy or Failed, since Since.
	State string    `json:"state"`
	Since time.Time `json:"since"`
	// OnFailure is what becomes of packets in that case.
	OnFailure string `json:"on_failure"`
	// Failures is how often it failed since it is watched.
	Failures int `json:"failures"`
	// Reason of the last failure.
	Reason string `json:"reason,omitempty"`
	// Proven are the directions in which probes have come through, eastward and westward, with the family of
	// addresses where those of the other one have not.
	Proven []string `json:"proven"`
}

// Watch has the owner's supervisor, which is started if there is none, watch over a path.
func Watch(owner string, p Path) error {
	if err := start(owner); err != nil {
		return err
	}
	_, err := call(owner, Request{Op: OpWatch, Path: &p})
	return watching(owner, err)
}

// Unwatch has the owner's supervisor watch no more, if there is one.
func Unwatch(owner string) error {
	_, err := call(owner, Request{Op: OpWatch})
	if errors.Is(err, rundir.ErrNone) {
		return nil
	}
	return watching(owner, err)
}

// Hold has the owner's supervisor take nothing for a failure until it is told what to watch, or to go on, and
// for half a minute at most, because the functions are about to be changed.
func Hold(owner string) error {
	_, err := call(owner, Request{Op: OpHold})
	return watching(owner, err)
}

// GoOn has the owner's supervisor, if there is one, take failures for what they are, though it was told to hold back.
func GoOn(owner string) error {
	_, err := call(owner, Request{Op: OpGoOn})
	if errors.Is(err, rundir.ErrNone) {
		return nil
	}
	return watching(owner, err)
}

// Drain has the owner's supervisor, which is started if there is none, bring the chain up again when no
// flow goes by an older version of its path any more, or by replicas that are taken out.
func Drain(owner string) error {
	err := start(owner)
	if err == nil {
		_, err = call(owner, Request{Op: OpDrain})
	}
	if err != nil {
		return fmt.Errorf("have what flows of %s go by removed once they are idle: %w", owner, err)
	}
	return nil
}

func watching(owner string, err error) error {
	if err != nil {
		return fmt.Errorf("watch over the functions of %s: %w", owner, err)
	}
	return nil
}

// Probes is the signature by which the probes are known that the owner's supervisor sends; 0 where it sends none.
func Probes(owner string) (signature uint64, err error) {
	reply, err := call(owner, Request{Op: OpStatus})
	if errors.Is(err, rundir.ErrNone) {
		return 0, nil
	}
	return reply.Probes, err
}

// OnWatch tells of the path that the owner's supervisor watches: its fingerprint, "" where
// there is none, and the health of its functions.
func OnWatch(owner string) (fingerprint string, functions []Health, err error) {
	reply, err := call(owner, Request{Op: OpStatus})
	if errors.Is(err, rundir.ErrNone) {
		return "", nil, nil
	}
	return reply.Path, reply.Health, err
}
