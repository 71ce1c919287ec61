package framestest

import (
	"encoding/binary"
	"math/rand/v2"
)

// Draws is a source of random numbers that are what some bytes say, for fuzz tests of what draws them: two bytes each,
// which decide over small numbers. When there are no more they go on by themselves, the same way each time.
type Draws struct {
	data []byte
	rest rand.Source
}

// NewDraws are those of some bytes.
func NewDraws(data []byte) *Draws { return &Draws{data, rand.NewPCG(uint64(len(data)), 1)} }

// Left tells whether there are more bytes.
func (d *Draws) Left() bool { return len(d.data) >= 2 }

// Uint64 implements [rand.Source].
func (d *Draws) Uint64() uint64 {
	if !d.Left() {
		return d.rest.Uint64()
	}
	n := binary.LittleEndian.Uint16(d.data)
	d.data = d.data[2:]
	return uint64(n) << 48
}
