// Package pcapng writes packets as Wireshark and tcpdump read them: the blocks of
// draft-ietf-opsawg-pcapng that a capture of Ethernet frames needs, with times in
// nanoseconds. It reads none.
package pcapng

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
)

// order of bytes that is written. Readers tell it by the first block.
var order = binary.LittleEndian

// The types of blocks (draft-ietf-opsawg-pcapng, section 11.1).
const (
	sectionBlock    = 0x0a0d0d0a
	interfaceBlock  = 1
	namesBlock      = 4
	statisticsBlock = 5
	packetBlock     = 6
)

// Options that any block may have.
const (
	endOfOptions = 0
	comment      = 1
)

// Writer writes one section. What it is given comes in the order of the file: interfaces
// before their packets, their statistics last. It keeps what a writer below it takes in
// larger pieces until Flush.
type Writer struct {
	out        *bufio.Writer
	block      []byte
	interfaces int
}

// buffered is how much is written at once, bytes.
const buffered = 1 << 18

// Section is what all of a file has in common.
type Section struct {
	// Program that wrote it, and System that the packets are from.
	Program, System string
	Comment         string
}

// NewWriter begins a file with its section.
func NewWriter(w io.Writer, s Section) (*Writer, error) {
	const magic, major, minor, system, program = 0x1a2b3c4d, 1, 0, 3, 4
	p := &Writer{out: bufio.NewWriterSize(w, buffered)}
	p.begin(sectionBlock)
	p.put32(magic)
	p.block = order.AppendUint16(p.block, major)
	p.block = order.AppendUint16(p.block, minor)
	p.put64(math.MaxUint64) // the length of the section is not known
	p.text(comment, s.Comment)
	p.text(system, s.System)
	p.text(program, s.Program)
	return p, p.end()
}

// Flush writes what was kept.
func (w *Writer) Flush() error { return w.out.Flush() }

// begin a block.
func (w *Writer) begin(kind uint32) {
	w.block = order.AppendUint32(w.block[:0], kind)
	w.put32(0) // the length, once it is known
}

// end the block that was begun, and its options.
func (w *Writer) end() error {
	w.put32(endOfOptions)
	length := uint32(len(w.block) + 4)
	order.PutUint32(w.block[4:], length)
	w.put32(length)
	_, err := w.out.Write(w.block)
	return err
}

func (w *Writer) put32(n uint32) { w.block = order.AppendUint32(w.block, n) }
func (w *Writer) put64(n uint64) { w.block = order.AppendUint64(w.block, n) }

// putTime is in two halves, the higher first whatever the order of bytes.
func (w *Writer) putTime(ns int64) {
	w.put32(uint32(uint64(ns) >> 32))
	w.put32(uint32(ns))
}

// putPadded bytes, to a multiple of four.
func (w *Writer) putPadded(b []byte) {
	w.block = append(w.block, b...)
	for range -len(b) & 3 {
		w.block = append(w.block, 0)
	}
}

// option begins one whose value has so many bytes.
func (w *Writer) option(code uint16, length int) {
	w.block = order.AppendUint16(w.block, code)
	w.block = order.AppendUint16(w.block, uint16(length))
}

// text is an option that is left out where it says nothing. More than fits is cut.
func (w *Writer) text(code uint16, s string) {
	if s == "" {
		return
	}
	s = s[:min(len(s), math.MaxUint16)]
	w.option(code, len(s))
	w.putPadded([]byte(s))
}
