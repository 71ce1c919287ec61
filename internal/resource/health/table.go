package health

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	bpf "nfchain.dev/nfchain/bpf/probe"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Maps of a program, by the names that the kernel knows them by: what has come through, whether functions are at rest, and what wakes who
// watches when they are no more.
const seenMap, restMap, wokenMap = "seen", ".bss", "woken"

// Table is where the programs at a chain's ports note which probes have come through, a row each, and that packets do. The
// kernel has it in common with who opened it, so that looking there costs no more than looking at
// memory. It goes with the last program that notes in it.
type Table struct {
	maps map[string]*ebpf.Map
	// memory of the rows, and of whether functions are at rest.
	memory, rest *ebpf.Memory
	woken        *ringbuf.Reader
	// signature of the probes that are noted, and program that does so; nil until it is needed.
	signature uint64
	program   *ebpf.Program
	id        ebpf.ProgramID
}

// Seen is what has come through at a port.
type Seen struct {
	// Number of the latest probe; 0 if none ever came.
	Number uint64
	// TookNS is how long that one took.
	TookNS uint64
}

// NewTable of so many rows, for probes with a signature.
func NewTable(rows int, signature uint64) (*Table, error) {
	t := &Table{maps: map[string]*ebpf.Map{}, signature: signature}
	if err := t.make(rows); err != nil {
		t.Close()
		return nil, fmt.Errorf("make the table of probes: %w", err)
	}
	return t, nil
}

func (t *Table) make(rows int) error {
	spec, err := object()
	if err != nil {
		return err
	}
	spec.Maps[seenMap].MaxEntries = uint32(rows)
	spec.Maps[wokenMap].MaxEntries = uint32(os.Getpagesize()) // the least that there is
	spec.Maps[restMap].Flags |= unix.BPF_F_MMAPABLE           // as where the library makes it itself
	for _, name := range []string{seenMap, restMap, wokenMap} {
		if t.maps[name], err = ebpf.NewMap(spec.Maps[name]); err != nil {
			return err
		}
	}
	if t.memory, err = t.maps[seenMap].Memory(); err != nil {
		return err
	}
	if t.rest, err = t.maps[restMap].Memory(); err != nil {
		return err
	}
	t.woken, err = ringbuf.NewReader(t.maps[wokenMap])
	return err
}

// Rest has the next packet that is no probe, and comes through any of the functions, wake who waits: one, until it is told again.
func (t *Table) Rest() {
	_, _ = t.rest.WriteAt([]byte{1}, 0) // it fails for no place that is there
}

// Wait until a packet has come through functions that were at rest; false when the table was closed. It is called by one at a time.
func (t *Table) Wait() bool {
	var r ringbuf.Record
	return t.woken.ReadInto(&r) == nil
}

// Seen by now at the port of a row.
func (t *Table) Seen(row int) Seen {
	s := t.row(row)
	return Seen{s.Number, s.Took}
}

// Lead probes that come out at the port of a row, and are to go through other functions, too, to the node behind a port, by the
// number that package steer gives it, and have them noted in another row where they come out of that; 0 leads nowhere.
func (t *Table) Lead(row int, to uint32, next int) error {
	b := binary.NativeEndian.AppendUint32(nil, to)
	_, err := t.memory.WriteAt(binary.NativeEndian.AppendUint32(b, uint32(next)), int64(row)*rowSize)
	if err != nil {
		return fmt.Errorf("lead probes on: %w", err)
	}
	return nil
}

// Close the table, of which programs at ports go on making use.
func (t *Table) Close() {
	if t.woken != nil {
		_ = t.woken.Close()
	}
	for _, m := range t.maps {
		_ = m.Close()
	}
	t.forget()
}

// goOn in a port's rows with what the first of other programs there has seen, each with what is in the row of the same
// place among those of the port, unless it has that.
func (t *Table) goOn(rows []int, port int, old []*held.Program) error {
	for i, row := range rows {
		if t.row(row).Port == uint32(port) {
			continue
		}
		s := bpf.ProgramSeen{Port: uint32(port)}
		if len(old) > 0 && old[0].Maps[seenMap] != nil {
			was := last(old[0].Maps[seenMap], uint32(port), i)
			s.Number, s.Took = was.Number, was.Took
		}
		if err := t.maps[seenMap].Put(uint32(row), &s); err != nil {
			return err
		}
	}
	return nil
}

// rowSize in bytes of one row, and firstSize of one of versions whose tables had a single row and did not say
// which port that was of.
const rowSize, firstSize = 32, 24

// last that was seen at a port in that row of its rows, by another program's table; nothing where that has no such
// row, or is of a kind that is not known.
func last(table *ebpf.Map, port uint32, which int) bpf.ProgramSeen {
	single := table.ValueSize() == firstSize && table.MaxEntries() == 1
	if !single && table.ValueSize() != rowSize {
		return bpf.ProgramSeen{}
	}
	for row := range table.MaxEntries() {
		b, err := table.LookupBytes(row)
		if err != nil || b == nil {
			break
		}
		s := decode(append(b, 0, 0, 0, 0, 0, 0, 0, 0))
		if !single && s.Port != port {
			continue
		}
		if which == 0 {
			return s
		}
		which--
	}
	return bpf.ProgramSeen{}
}

func (t *Table) row(row int) bpf.ProgramSeen {
	var b [rowSize]byte
	if _, err := t.memory.ReadAt(b[:], int64(row)*rowSize); err != nil {
		return bpf.ProgramSeen{} // there is no such row
	}
	return decode(b[:])
}

// decode a row, without reflection: this is done all the time.
func decode(b []byte) bpf.ProgramSeen {
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	return bpf.ProgramSeen{Number: word(8), Took: word(16), Port: binary.NativeEndian.Uint32(b[24:])}
}
