package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/wiring"
)

// space is the addresses of one chain. Each family has one block cut in two
// halves: a node's west interface has an address in the eastern half, because
// one goes east to reach it, and its east interface one in the western half. So
// two routes a node and family are enough, however long the chain: the eastern
// half lies east, the western half west.
type space struct {
	families []halves
	// slot of each node in both halves, by name.
	slot map[string]uint64
	size uint64
}

type halves struct{ block, west, east netip.Prefix }

func (s space) blocks() []netip.Prefix {
	out := make([]netip.Prefix, 0, len(s.families))
	for _, f := range s.families {
		out = append(out, f.block)
	}
	return out
}

// roomy is the bits of a slot where only IPv6 is used, so that the smallest pool
// the file may name holds it.
const roomy = 15

// directSlot is kept free of nodes, for the hop beside the chain.
const directSlot = 1

// firstSlot is the first that a node may get: 0 would be the halves' own
// address.
const firstSlot = 2

// chooseSpace takes a block of each family out of its pool and gives every node
// a slot in it: the one it has, or one that follows from its name.
func (b *builder) chooseSpace() (space, error) {
	s := space{slot: map[string]uint64{}, size: b.halfSize()}
	for _, pool := range []string{b.chain.Spec.Addresses.IPv4, b.chain.Spec.Addresses.IPv6} {
		if pool == api.None || pool == "" {
			continue
		}
		p, err := netip.ParsePrefix(pool)
		if err != nil {
			return s, err
		}
		h, err := b.chooseBlock(p, s.size)
		if err != nil {
			return s, err
		}
		s.families = append(s.families, h)
	}
	taken, leaving := map[uint64]bool{}, b.slotsHad(s)
	had := func(name string, addresses []netip.Addr) {
		if len(addresses) == 0 {
			addresses = b.facts.Translated[pass.WhoseNAT(name)]
		}
		if i, ok := s.slotOf(addresses); ok && !taken[i] {
			s.slot[name], taken[i] = i, true
		}
	}
	for _, n := range b.nodes {
		had(n.Name, b.facts.Addresses[b.first(n)])
	}
	for _, n := range b.nodes {
		for _, before := range b.addressesBefore(n) {
			if _, has := s.slot[n.Name]; !has {
				had(n.Name, b.facts.Addresses[before])
			}
		}
	}
	for _, f := range b.translators() {
		had(f.Name, b.facts.Addresses[b.namespaceOf(f.Name)])
	}
	take := func(name, of string) {
		if _, has := s.slot[name]; has {
			return
		}
		i := s.free(firstSlot+hash("slot", b.chain.Metadata.Name, of)%s.slots(), taken, leaving)
		s.slot[name], taken[i] = i, true
	}
	for _, f := range b.translators() { // before new nodes, since these are asked which they have when they are there
		take(f.Name, f.Name)
	}
	for _, n := range b.nodes {
		take(n.Name, n.Function())
	}
	return s, nil
}

// slotsHad are those of whatever the chain had. Somebody new gets none of one that leaves while there are others: packets may still come by
// that, on their way or by an older one, and IPv4 drops those which have come from its own address.
func (b *builder) slotsHad(s space) map[uint64]bool {
	all := map[uint64]bool{}
	add := func(addresses []netip.Addr) {
		if i, ok := s.slotOf(addresses); ok {
			all[i] = true
		}
	}
	for _, of := range b.facts.Addresses {
		add(of)
	}
	for _, of := range b.facts.Translated {
		add(of)
	}
	return all
}

// free is the first slot from one on that nobody has: neither these nor, if there is such, those.
func (s space) free(from uint64, taken, leaving map[uint64]bool) uint64 {
	follows := func(i uint64) uint64 { return firstSlot + (i-firstSlot+1)%s.slots() }
	i := from
	for n := uint64(0); n < s.slots() && (taken[i] || leaving[i]); n++ {
		i = follows(i)
	}
	for taken[i] {
		i = follows(i)
	}
	return i
}

// slotted is how many have a slot.
func (b *builder) slotted() uint64 { return uint64(len(b.nodes) + len(b.translators())) }

// slots is how many there are for nodes: neither the halves' own addresses, nor
// the direct hop's, nor IPv4's last address of all.
func (s space) slots() uint64 { return s.size - firstSlot - 1 }

// slotOf a node that has one of these addresses.
func (s space) slotOf(addresses []netip.Addr) (uint64, bool) {
	for _, a := range addresses {
		for _, f := range s.families {
			for _, half := range []netip.Prefix{f.west, f.east} {
				if i := distance(half.Addr(), a); half.Contains(a) && i >= firstSlot && i-firstSlot < s.slots() {
					return i, true
				}
			}
		}
	}
	return 0, false
}

// distance of an address from another of the same family, by its lower 64 bits.
func distance(from, to netip.Addr) uint64 {
	a, b := from.As16(), to.As16()
	return binary.BigEndian.Uint64(b[8:]) - binary.BigEndian.Uint64(a[8:])
}

// halfSize is that of the IPv4 block that the chain has, as long as its nodes fit;
// else it leaves three quarters of the slots free. IPv6 has room for all.
func (b *builder) halfSize() uint64 {
	if b.chain.Spec.Addresses.IPv4 == api.None {
		return 1 << roomy
	}
	for _, own := range b.facts.Blocks[b.chain.Metadata.Name] {
		size := uint64(1) << max(0, min(own.Addr().BitLen()-own.Bits()-1, 62))
		if own.Addr().Is4() && size > b.slotted()+firstSlot {
			return size
		}
	}
	return max(32, uint64(1)<<bits.Len64(4*b.slotted()-1))
}

// chooseBlock keeps the chain's own block if it still fits; else it starts at a
// place that follows from the chain's name and takes the first block clear of
// the host's routes and of other chains. A chain that meets no other in any namespace also
// keeps a block of which another took some later (by a script, beside the lock): moving
// would end what goes through it, and help nobody.
func (b *builder) chooseBlock(pool netip.Prefix, half uint64) (halves, error) {
	width := bits.Len64(half-1) + 1
	length := pool.Addr().BitLen() - width
	if pool.Addr().Is6() && pool.Bits() <= 64 {
		length = 64
	}
	if length < pool.Bits() {
		return halves{}, fmt.Errorf("spec.addresses: %s is too small for %d nodes; use a pool of at least /%d", pool, len(b.nodes), length)
	}
	for _, own := range b.facts.Blocks[b.chain.Metadata.Name] {
		if own.Bits() == length && pool.Overlaps(own) && pool.Bits() <= own.Bits() && b.unreached(own) && (b.secluded() || b.untaken(own)) {
			return split(own), nil
		}
	}
	if block, found := b.firstClear(pool, length); found {
		return split(block), nil
	}
	return halves{}, b.crowded(pool, length)
}

// firstClear is the first block of a length that is clear, from a place on that follows from the chain's name.
func (b *builder) firstClear(pool netip.Prefix, length int) (block netip.Prefix, found bool) {
	count := uint64(1) << min(length-pool.Bits(), 32)
	start := hash("block", b.chain.Metadata.Name)
	for i := range min(count, 1<<16) {
		block := netip.PrefixFrom(offset(pool.Masked().Addr(), (start+i)%count, pool.Addr().BitLen()-length), length)
		if b.unreached(block) && b.untaken(block) {
			return block, true
		}
	}
	return block, false
}

// unreached by the host's routes, and by those of existing namespaces at the chain's ends.
func (b *builder) unreached(block netip.Prefix) bool {
	return !slices.ContainsFunc(b.facts.Routes, func(r netip.Prefix) bool { return r.Bits() > 0 && r.Overlaps(block) })
}

// secluded is a chain all of whose namespaces are its own.
func (b *builder) secluded() bool {
	return !slices.ContainsFunc(b.nodes, func(n Node) bool { return !n.Made })
}

// untaken by another chain.
func (b *builder) untaken(block netip.Prefix) bool {
	for chain, blocks := range b.facts.Blocks {
		for _, other := range blocks {
			if chain != b.chain.Metadata.Name && other.Overlaps(block) && !b.stranger(chain) {
				return false
			}
		}
	}
	return true
}

func split(block netip.Prefix) halves {
	length := block.Bits() + 1
	return halves{
		block: block,
		west:  netip.PrefixFrom(block.Addr(), length),
		east:  netip.PrefixFrom(offset(block.Addr(), 1, block.Addr().BitLen()-length), length),
	}
}

// offset adds n, shifted left by shift bits, to an address.
func offset(a netip.Addr, n uint64, shift int) netip.Addr {
	if a.Is4() {
		v := binary.BigEndian.Uint32(a.AsSlice())
		var out [4]byte
		binary.BigEndian.PutUint32(out[:], v+uint32(n<<shift))
		return netip.AddrFrom4(out)
	}
	b := a.As16()
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	addHi, addLo := uint64(0), n
	if shift >= 64 {
		addHi, addLo = n<<(shift-64), 0
	} else if shift > 0 {
		addHi, addLo = n>>(64-shift), n<<shift
	}
	lo, carry := bits.Add64(lo, addLo, 0)
	hi, _ = bits.Add64(hi, addHi, carry)
	binary.BigEndian.PutUint64(b[:8], hi)
	binary.BigEndian.PutUint64(b[8:], lo)
	return netip.AddrFrom16(b)
}

func hash(parts ...string) uint64 {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// number gives every node its interfaces, and functions without one their addresses.
func (b *builder) number() {
	last := len(b.nodes) - 1
	for i := range b.nodes {
		n := &b.nodes[i]
		slot := b.space.slot[n.Name]
		if i > 0 {
			n.West = b.port(*n, "eth0", func(h halves) netip.Addr { return offset(h.east.Addr(), slot, 0) })
		}
		if i < last {
			device := "eth1"
			if i == 0 || b.oneArm() {
				device = "eth0"
			}
			n.East = b.port(*n, device, func(h halves) netip.Addr { return offset(h.west.Addr(), slot, 0) })
		}
	}
	for _, f := range b.translators() {
		f.stands(b.space)
	}
}

// called is the name that the wiring has for a node's device. In a namespace that is not the
// chain's own it has one already that is nobody else's.
func (b *builder) called(n Node, device string) string {
	if w, is := b.wiring.(wiring.Naming); is && n.Made {
		return w.Called(b.wiringOptions(), b.machineHas(), n.Name, device)
	}
	return device
}

// machineHas tells what the machine has; where nothing is known, it has all.
func (b *builder) machineHas() func(string) bool {
	if b.facts.Has == nil {
		return func(string) bool { return true }
	}
	return b.facts.Has
}

func (b *builder) port(n Node, device string, pick func(halves) netip.Addr) *Interface {
	words := device
	if name, is := n.inside(device); is {
		device = name
	} else if !n.Made {
		// In a namespace that is not the chain's own the name must meet nobody's.
		device = fmt.Sprintf("nfc%08x%s", b.guest(n), device[3:])
		words = device
	}
	p := &Interface{Device: b.called(n, device), MAC: link.MAC(b.chain.Metadata.Name, n.Name, words), Addresses: []netip.Addr{}}
	if n.Transparent {
		return p
	}
	for _, h := range b.space.families {
		p.Addresses = append(p.Addresses, pick(h))
	}
	return p
}
