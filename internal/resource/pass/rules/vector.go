package rules

import (
	"encoding/binary"
	"math/bits"
)

// A vector has a bit for each rule, in blocks of the size of a cache line.
const (
	wordsOfBlock = 8
	bitsOfBlock  = 64 * wordsOfBlock
	bytesOfBlock = 8 * wordsOfBlock
)

type block [wordsOfBlock]uint64

// pool keeps each block and each vector once. Block 0 has no bit.
type pool struct {
	blocks  []block
	vectors [][]uint32 // of blocks
	known   map[block]uint32
	same    map[string]uint32
	// room in bytes that is left; when it is used up, nothing is kept any more.
	room int
}

func newPool(room int) *pool {
	return &pool{blocks: []block{{}}, known: map[block]uint32{{}: 0}, same: map[string]uint32{}, room: room - bytesOfBlock}
}

// takes room, if there is as much.
func (p *pool) takes(bytes int) bool {
	p.room -= min(bytes, p.room+1)
	return p.room >= 0
}

// sizeOfVector in bytes, with its summary: 64 blocks are a word of that.
func sizeOfVector(blocks int) int { return (8*((blocks+63)/64) + 4*blocks + 7) &^ 7 }

func (p *pool) block(b block) uint32 {
	at, known := p.known[b]
	if !known && p.takes(bytesOfBlock) {
		at = uint32(len(p.blocks))
		p.blocks = append(p.blocks, b)
		p.known[b] = at
	}
	return at
}

// vector gives the number of the vector that is made of some blocks.
func (p *pool) vector(of []uint32) uint32 {
	name := make([]byte, 0, 4*len(of))
	for _, b := range of {
		name = binary.LittleEndian.AppendUint32(name, b)
	}
	at, known := p.same[string(name)]
	if !known && p.takes(sizeOfVector(len(of))) {
		at = uint32(len(p.vectors))
		p.vectors = append(p.vectors, append([]uint32(nil), of...))
		p.same[string(name)] = at
	}
	return at
}

// pencil writes one vector after the other that differs little from the one before.
type pencil struct {
	*pool
	now     []block
	of      []uint32
	touched map[int]bool // blocks that changed
}

func (p *pool) pencil(blocks int) *pencil {
	return &pencil{pool: p, now: make([]block, blocks), of: make([]uint32, blocks), touched: map[int]bool{}}
}

// turn sets the bit of a rule, or clears it if it was set.
func (p *pencil) turn(rule int) {
	b := rule / bitsOfBlock
	p.now[b][rule%bitsOfBlock/64] ^= 1 << (rule % 64)
	p.touched[b] = true
}

// vector is the number of the one that is written now.
func (p *pencil) vector() uint32 {
	for b := range p.touched {
		p.of[b] = p.block(p.now[b])
	}
	clear(p.touched)
	return p.pool.vector(p.of)
}

// ofRules is the vector of the rules that keep a condition.
func (p *pool) ofRules(n, blocks int, keeps func(rule int) bool) uint32 {
	w := p.pencil(blocks)
	for i := range n {
		if keeps(i) {
			w.turn(i)
		}
	}
	return w.vector()
}

// summary has a bit for each block of a vector that has one.
func summary(of []uint32) []uint64 {
	words := make([]uint64, (len(of)+63)/64)
	for i, b := range of {
		if b != 0 {
			words[i/64] |= 1 << (i % 64)
		}
	}
	return words
}

func lowest(word uint64) int { return bits.TrailingZeros64(word) }
