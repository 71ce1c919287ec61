package rules

import "encoding/binary"

// Find gives the number of the first rule that matches a packet, from 0, or that of all rules where the
// policy decides, and whether the packet is accepted. It does what the program in the kernel does, by the
// same memory.
func (t *Table) Find(p Packet) (rule int, accepted bool) {
	rule = t.Row(int(p.State), p)
	return rule, t.u64(t.Accepts+uint32(rule/64)*8)>>(rule%64)&1 == 1
}

// Row gives the number of the first rule that matches a packet of a class, from 0, or that of all rules.
func (t *Table) Row(class int, p Packet) int { return t.first(t.vectorsOf(class, p)) }

// vectorsOf a packet, one of each dimension.
func (t *Table) vectorsOf(class int, p Packet) [5]uint32 {
	six := p.Source.Is6()
	source, destination := source4, destination4
	if six {
		source, destination = source6, destination6
	}
	return [5]uint32{
		t.u32(t.Kinds + 4*uint32(kind(class, six, p.Protocol))),
		t.search(source, numberOf(p.Source)),
		t.search(destination, numberOf(p.Destination)),
		t.port(0, p.SourcePort),
		t.port(1, p.DestinationPort),
	}
}

func (t *Table) port(which int, port int32) uint32 {
	if port < 0 {
		return t.Portless[which]
	}
	return t.search(sourcePort+which, number{low: uint64(port)})
}

// search goes down a tree; the leaf is the number of places that are not behind n.
func (t *Table) search(d int, n number) uint32 {
	s, at := t.Searches[d], uint32(1)
	for range s.Depth {
		key := number{low: uint64(t.u32(s.Keys + 4*at))}
		if all[d].wide {
			key = number{t.u64(s.Keys + 16*at), t.u64(s.Keys + 16*at + 8)}
		}
		at *= 2
		if n.compare(key) >= 0 {
			at++
		}
	}
	return t.u32(s.Vectors + 4*(at-1<<s.Depth))
}

// first bit that vectors have in common.
func (t *Table) first(vectors [5]uint32) int {
	for s := range t.Summary {
		blocks := ^uint64(0)
		for _, v := range vectors {
			blocks &= t.u64(v + 8*s)
		}
		for ; blocks != 0; blocks &= blocks - 1 {
			b := s*64 + uint32(lowest(blocks))
			if bit := t.firstOf(vectors, b); bit >= 0 {
				return int(b)*bitsOfBlock + bit
			}
		}
	}
	return t.Len()
}

// firstOf is the same in one block; -1 if there is none.
func (t *Table) firstOf(vectors [5]uint32, b uint32) int {
	for w := range uint32(wordsOfBlock) {
		word := ^uint64(0)
		for _, v := range vectors {
			word &= t.u64(t.u32(v+8*t.Summary+4*b) + 8*w)
		}
		if word != 0 {
			return int(w)*64 + lowest(word)
		}
	}
	return -1
}

func (t *Table) u32(at uint32) uint32 { return binary.LittleEndian.Uint32(t.memory[at:]) }
func (t *Table) u64(at uint32) uint64 { return binary.LittleEndian.Uint64(t.memory[at:]) }
