package pass

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// NAT is the rules of a step that translates addresses and ports (RFC 2663's NAPT, and what its section 4.4
// calls server redirection). A rule is asked once, by the packet that opens a connection; what it said holds
// for as long as the connection is known, whatever the rules are then. Connections are known in common with
// the NAT of the same name at the namespace's other interfaces, where the packets of the other way come in.
//
// What no rule is for goes on as it came. What is known without packets is forgotten: TCP's connections after
// 124 minutes, or after 4 where nobody has answered yet, both ends have closed one, or it was reset (RFC 5382 REQ-5,
// RFC 7857 section 2), ICMP's questions after 60 s (RFC 5508 REQ-2), others after 5 minutes (RFC 4787 REQ-5); each up to a second
// later. A SYN opens a connection anew that both ends have closed, or that was refused. Sequence numbers are not looked at, so
// that a reset may be forged or late. One of a connection that was answered is undone by the next packet, whatever that is, if
// one comes within the 4 minutes, and it goes where it went; one that refuses a connection is undone if its SYN is answered.
// What nobody sends a packet of for so long is forgotten, whoever the reset was of.
//
// A packet is a stray and is dropped if
//
//   - it answers to an address that connections were given as their source, and is of none of them,
//   - it is an answer to a question of ICMP, of the way that opens, and nobody asked,
//   - it is a redirect (RFC 792, RFC 4861 section 4.5) of a connection that is translated, whose ends know other addresses
//     than it tells,
//   - it is a fragment that comes before the first one, which says where it goes, or 30 s after,
//   - its transport's header is cut off, or is behind more than eight of IPv6's extensions.
//
// ICMP's questions are those for an echo and, of IPv4, a timestamp, information or an address mask. Errors of ICMP are
// translated, and what they quote (RFC 5508 section 4), those of ICMPv6 also if they are unknown (RFC 4443 section 2.4). Packets to link-local and to
// multicast addresses, and what ICMP says to neighbours, are left alone. SCTP and protocols without ports
// have their addresses translated.
type NAT struct {
	// Slot of its step.
	Slot uint32 `json:"slot"`
	// Name tells it from other NATs of the owner's in the namespace.
	Name string `json:"name"`
	// Answers tells that connections which packets of this way open are not translated, but those that they
	// answer to.
	Answers bool `json:"answers,omitempty"`
	// Rules, of which the first of either kind that matches says what a connection becomes.
	Rules []Translation `json:"rules"`
}

// Translation is a rule of a NAT.
type Translation struct {
	// Source has connections come from the target, all that are of its family; they keep their ports, where
	// those are free. Otherwise, connections to Address are taken to a target.
	Source bool `json:"source,omitempty"`
	// Address that they are sent to.
	Address netip.Addr `json:"address"`
	// Protocol of IP; 0 is any.
	Protocol uint8 `json:"protocol,omitempty"`
	// First and Last port that they are sent to, of TCP, UDP, UDP-Lite and DCCP; 0 is any.
	First uint16 `json:"first,omitempty"`
	Last  uint16 `json:"last,omitempty"`
	// Port that this becomes; 0: it stays.
	Port uint16 `json:"port,omitempty"`
	// Targets, of the address's family. Of Source there is one.
	Targets []Target `json:"targets"`
	// ByHash takes connections from the same address and port to the same target; a target that comes or goes
	// takes its share and moves no others. Otherwise they are taken by turns.
	ByHash bool `json:"by_hash,omitempty"`
}

// Target is one of those that connections are shared out to.
type Target struct {
	Address netip.Addr `json:"address"`
	// Weight is its share; 0 is 1.
	Weight uint32 `json:"weight,omitempty"`
}

// Bounds of NATs.
const (
	// MostTranslations of one NAT.
	MostTranslations = 8
	// MostTargets of one rule.
	MostTargets = 1000
)

// NewNAT is a NAT. Which, the pass's spec says by the slot.
func NewNAT(slot uint32) Step { return Step{Act: Translate, Slot: slot} }

// whose connections are its own.
func (n NAT) whose() uint32 { return WhoseNAT(n.Name) }

// WhoseNAT is the NAT of that name, as passes note whose connections are.
func WhoseNAT(name string) uint32 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint32(sum[:])
}

// digest names what its rules say.
func (n NAT) digest() uint64 {
	text, err := json.Marshal(n.Rules)
	if err != nil {
		panic(err) // rules are plain data
	}
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:])
}

// step of a NAT at an interface, whose rules begin at a place among those of all.
func (n NAT) step(first uint32, device string) Step {
	here := uint64(placeOf(device))
	if !n.Answers {
		here |= opensBit
	}
	return Step{Translate, n.Slot, [3]uint64{uint64(first) | uint64(len(n.Rules))<<32, uint64(n.whose()) | here<<32, n.digest()}}
}

// opensBit of a NAT's place tells that packets open connections that it translates.
const opensBit = 1

// placeOf an interface is a number by which a NAT knows packets that it translated elsewhere, as bpf/include/nat_phase.h
// has it: it is not 0, and the other bits of the lowest byte are free. Earlier versions had a number that differs in these alone.
func placeOf(device string) uint32 {
	sum := sha256.Sum256([]byte(device))
	return binary.BigEndian.Uint32(sum[:])&^0xff | 4
}

// opens tells of a NAT whether packets of this way open connections that it translates.
func (s Step) opens() bool { return s.Args[1]>>32&opensBit != 0 }

// translating are all steps, those of NATs with what they are.
func (s Spec) translating() []Step {
	all, first := slices.Clone(s.Steps), uint32(0)
	for _, n := range s.NATs {
		for i, step := range all {
			if step.Act == Translate && step.Slot == n.Slot {
				all[i] = n.step(first, s.Device)
			}
		}
		first += uint32(len(n.Rules))
	}
	return all
}

// translates tells whether a step is a NAT.
func translates(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Act == Translate })
}

// checkNATs that every step which is one has its rules, and that no two are the same.
func (s Spec) checkNATs() error {
	bySlot, whose := map[uint32]bool{}, map[uint32]bool{}
	for _, n := range s.NATs {
		if err := n.Check(); err != nil {
			return err
		}
		if whose[n.whose()] {
			return fmt.Errorf("nat %q cannot be told from another; call it otherwise", n.Name)
		}
		whose[n.whose()], bySlot[n.Slot] = true, true
	}
	for i, step := range s.Steps {
		if step.Act == Translate && !bySlot[step.Slot] {
			return fmt.Errorf("step %d is a nat without rules", i)
		}
	}
	if len(s.NATs) > 0 && (s.Connections < LeastFlows || s.Connections > MostFlows) {
		return fmt.Errorf("nats that know %d connections: %d to %d can be known", s.Connections, LeastFlows, MostFlows)
	}
	return nil
}

// Check that its rules can be.
func (n NAT) Check() error {
	if len(n.Rules) > MostTranslations {
		return fmt.Errorf("nat %s has %d rules: %d is the most", n.Name, len(n.Rules), MostTranslations)
	}
	for i, r := range n.Rules {
		if err := r.check(); err != nil {
			return fmt.Errorf("nat %s: rule %d: %w", n.Name, i, err)
		}
	}
	return nil
}

func (r Translation) check() error {
	if len(r.Targets) == 0 || len(r.Targets) > MostTargets || r.Source && len(r.Targets) > 1 {
		return fmt.Errorf("%d targets: there are 1 to %d, and one of a source", len(r.Targets), MostTargets)
	}
	if !r.Source && !r.Address.IsValid() {
		return errors.New("no address that connections are sent to")
	}
	for _, t := range r.Targets {
		if !t.Address.IsValid() || t.Address.Is4In6() || !r.Source && t.Address.Is4() != r.Address.Is4() {
			return fmt.Errorf("target %s is not of the family of %s", t.Address, r.Address)
		}
	}
	if r.First > r.Last || r.Port != 0 && (r.Last == 0 || r.Source) {
		return fmt.Errorf("ports %d to %d become %d: the first is not above the last, and there are some", r.First, r.Last, r.Port)
	}
	if turns := r.turns(); len(turns) > ringSize {
		return fmt.Errorf("weights add up to %d, and %d is the most; make them smaller", len(turns), ringSize)
	}
	return nil
}

// Service is where packets are sent to that a rule takes elsewhere, for people: "203.0.113.80", "203.0.113.80
// tcp 80" or "2001:db8::80 udp 5000-6000".
func (r Translation) Service() string {
	text := r.Address.String()
	if r.Protocol != 0 {
		text += " " + map[uint8]string{unix.IPPROTO_TCP: "tcp", unix.IPPROTO_UDP: "udp"}[r.Protocol]
	}
	if r.Last != 0 {
		text += fmt.Sprintf(" %d", r.First)
	}
	if r.Last != r.First {
		text += fmt.Sprintf("-%d", r.Last)
	}
	return text
}

// version of IP that a rule is about.
func (r Translation) version() uint8 {
	if r.Targets[0].Address.Is4() {
		return 4
	}
	return 6
}
