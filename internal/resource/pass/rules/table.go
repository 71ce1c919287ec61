package rules

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Table is what rules come to. It does not change.
type Table struct {
	header
	memory []byte
}

// header begins the memory. Places are counted in bytes from there.
type header struct {
	// Rules is their number, and that of the policy, which stands behind the last.
	Rules uint32
	// Blocks that a vector has, and words of its summary.
	Blocks, Summary uint32
	// Kinds is the place of the vectors by state, family and protocol.
	Kinds uint32
	// Accepts is the place of the bits that say which rules accept, the policy among them.
	Accepts uint32
	// Stateful is 1 where some rule asks for the state.
	Stateful uint32
	// Portless are the vectors of packets without source and destination port.
	Portless [2]uint32
	Searches [dimensions]search
	// Behind is 1 where some rule asks for what is behind IP: protocol, ports or state.
	Behind uint32
}

// search is a binary tree of the places where ranges begin, in the order of its levels, each as
// wide as what is compared. There are 2^Depth-1 of them, the root the second entry, and as many
// vectors, and one.
type search struct{ Keys, Depth, Vectors uint32 }

// mostRules is more than a firewall has.
const mostRules = 1 << 18

// MostBytes is as much as a table may take: what the kernel's verifier lets a program reach, with room
// to spare.
const MostBytes = 1 << 28

// families that a packet can be of: IPv4 and IPv6.
const families = 2

// kind of a packet: its state or another class, family and protocol in one number.
func kind(class int, six bool, protocol uint8) int {
	family := 0
	if six {
		family = 1
	}
	return (class*families+family)<<8 | int(protocol)
}

// Compile makes the table of rules, of which the first that matches decides, and of the policy,
// accept or drop, for what none decides. It gives up as soon as that would take more bytes than most.
func Compile(rules []ruleset.Rule, policy string, most int) (*Table, error) {
	if policy != "accept" && policy != "drop" {
		return nil, fmt.Errorf("%q is not a policy; use accept or drop", policy)
	}
	if len(rules) >= mostRules {
		return nil, fmt.Errorf("%d rules are more than a table holds, which is %d; use the namespace function", len(rules), mostRules-1)
	}
	if err := check(rules); err != nil {
		return nil, err
	}
	c := contentOf(rules, most)
	c.stateful, c.behind = stateful(rules), slices.ContainsFunc(rules, asksBehind)
	c.kinds = c.kindsOf(rules, int(states), func(rule, class int) bool { return inState(rules[rule], State(class)) })
	c.accepts = make([]uint64, len(rules)/64+1)
	for i := range len(rules) + 1 {
		if i < len(rules) && rules[i].Verdict == "accept" || i == len(rules) && policy == "accept" {
			c.accepts[i/64] |= 1 << (i % 64)
		}
	}
	t, err := c.table(most)
	if err != nil {
		return nil, fmt.Errorf("%w; use the namespace function", err)
	}
	return t, nil
}

// contentOf rules, without what is asked besides addresses and ports.
func contentOf(rules []ruleset.Rule, most int) content {
	c := content{pool: newPool(most), rules: len(rules)}
	blocks := c.blocks()
	for i, d := range all {
		c.cuts[i] = c.cut(d, rules, blocks)
	}
	c.portless[0] = c.ofRules(len(rules), blocks, func(i int) bool { return rules[i].SourcePorts == ruleset.Ports{} })
	c.portless[1] = c.ofRules(len(rules), blocks, func(i int) bool { return rules[i].DestinationPorts == ruleset.Ports{} })
	return c
}

// kindsOf are the vectors of each kind of packet: by class, of which in tells the rules, family and
// protocol.
func (c content) kindsOf(rules []ruleset.Rule, classes int, in func(rule, class int) bool) []uint32 {
	vectors := make([]uint32, 0, classes*families<<8)
	asks := protocolsOf(rules)
	var asked [256]bool
	for _, number := range asks {
		if number != anyProtocol {
			asked[number] = true
		}
	}
	for class := range classes {
		for _, six := range []bool{false, true} {
			of := func(protocol int) uint32 {
				return c.ofRules(len(rules), c.blocks(), func(i int) bool {
					return (asks[i] == anyProtocol || asks[i] == protocol) && isOfKind(rules[i], six) && in(i, class)
				})
			}
			rest := of(otherProtocol)
			for number := range 256 {
				if c.room >= 0 && asked[number] {
					vectors = append(vectors, of(number))
					continue
				}
				vectors = append(vectors, rest)
			}
		}
	}
	return vectors
}

func isOfKind(r ruleset.Rule, six bool) bool {
	return r.ConnectionBytes < neverCarried && (r.Family == 0 || (r.Family == 6) == six)
}

func inState(r ruleset.Rule, s State) bool {
	return len(r.States) == 0 || slices.ContainsFunc(r.States, func(name string) bool { return stateNames[name] == s })
}

// content of a table before its places are known.
type content struct {
	*pool
	rules    int
	stateful bool
	behind   bool
	cuts     [dimensions]cut
	kinds    []uint32
	portless [2]uint32
	accepts  []uint64
}

// blocks of a vector; there is one at least, also where there are no rules.
func (c content) blocks() int { return max(1, (c.rules+bitsOfBlock-1)/bitsOfBlock) }

// table lays the content out.
func (c content) table(most int) (*Table, error) {
	at := c.places()
	if c.room < 0 || at.end > uint64(most) {
		return nil, fmt.Errorf("the table of %d rules takes more than the %d MB of memory that are left for it", c.rules, most>>20)
	}
	w := writer{memory: make([]byte, at.end)}
	t := &Table{header: at.header, memory: w.memory}
	copy(w.memory, binaryOf(at.header))
	for i, s := range at.Searches {
		w.at = s.Keys
		w.tree(c.cuts[i].starts, s.Depth, all[i].wide)
		w.at = s.Vectors
		for leaf := range 1 << s.Depth {
			w.u32(at.vector(c.cuts[i].vectors[min(leaf, len(c.cuts[i].vectors)-1)]))
		}
	}
	w.at = at.Kinds
	for _, v := range c.kinds {
		w.u32(at.vector(v))
	}
	w.at = at.Accepts
	w.u64(c.accepts...)
	for i, of := range c.vectors {
		w.at = at.vector(uint32(i))
		w.u64(summary(of)...)
		for _, b := range of {
			w.u32(at.blocks + b*bytesOfBlock)
		}
	}
	for i, b := range c.pool.blocks {
		w.at = at.blocks + uint32(i)*bytesOfBlock
		w.u64(b[:]...)
	}
	return t, nil
}

// places in a table's memory.
type places struct {
	header
	vectors, vectorSize, blocks uint32
	end                         uint64
}

func (p places) vector(i uint32) uint32 { return p.vectors + i*p.vectorSize }

func (c content) places() places {
	blocks := uint32(c.blocks())
	at := places{header: header{Rules: uint32(c.rules), Blocks: blocks, Summary: (blocks + 63) / 64}}
	if c.stateful {
		at.Stateful = 1
	}
	if c.behind {
		at.Behind = 1
	}
	end := uint64(binary.Size(at.header))
	take := func(size uint64) uint32 { // each begins a cache line
		begin := (end + bytesOfBlock - 1) &^ (bytesOfBlock - 1)
		end = begin + size
		return uint32(begin)
	}
	for i := range at.Searches {
		s := &at.Searches[i]
		for len(c.cuts[i].starts) >= 1<<s.Depth {
			s.Depth++
		}
		s.Keys = take(uint64(width(all[i].wide)) << s.Depth)
		s.Vectors = take(4 << s.Depth)
	}
	at.Kinds = take(4 * uint64(len(c.kinds)))
	at.Accepts = take(8 * uint64(len(c.accepts)))
	at.vectorSize = uint32(sizeOfVector(int(blocks)))
	at.vectors = take(uint64(at.vectorSize) * uint64(len(c.vectors)))
	at.blocks = take(bytesOfBlock * uint64(len(c.pool.blocks)))
	at.Portless = [2]uint32{at.vector(c.portless[0]), at.vector(c.portless[1])}
	at.end = end
	return at
}

// width of what is compared, in bytes.
func width(wide bool) int {
	if wide {
		return 16
	}
	return 4
}

func binaryOf(h header) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, h); err != nil {
		panic(err) // a header is plain data
	}
	return b.Bytes()
}

// writer writes numbers one behind the other.
type writer struct {
	memory []byte
	at     uint32
}

func (w *writer) u32(values ...uint32) {
	for _, v := range values {
		binary.LittleEndian.PutUint32(w.memory[w.at:], v)
		w.at += 4
	}
}

func (w *writer) u64(values ...uint64) {
	for _, v := range values {
		binary.LittleEndian.PutUint64(w.memory[w.at:], v)
		w.at += 8
	}
}

// tree writes a search tree level by level. Where the sorted places are too few for it, the last one of
// all stands in.
func (w *writer) tree(starts []number, depth uint32, wide bool) {
	w.at += uint32(width(wide)) // the root is the second
	for level := range depth {
		step := 1 << (depth - level)
		for i := step/2 - 1; i < 1<<depth-1; i += step {
			n := number{1<<64 - 1, 1<<64 - 1}
			if i < len(starts) {
				n = starts[i]
			}
			if wide {
				w.u64(n.high, n.low)
			} else {
				w.u32(uint32(n.low))
			}
		}
	}
}

// Size in bytes, with what is left free to begin the next table at a cache line.
func (t *Table) Size() int { return (len(t.memory) + bytesOfBlock - 1) &^ (bytesOfBlock - 1) }

// Memory that a program in the kernel searches.
func (t *Table) Memory() []byte { return t.memory }

// Len is the number of rules.
func (t *Table) Len() int { return int(t.Rules) }
