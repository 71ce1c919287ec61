package held

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Areas are those of a memory that programs search, the only value of a map: one of them counts. What is to count next is
// written into another one, which no program reads any more, and then counts for all programs that have the memory, at
// once. Each packet reads once which area counts, so that it meets what is in one, whole. With more than two, who
// writes one time after the other seldom has to wait for those who read.
//
// Programs look at the first entry of another map for the number of the area that counts. Behind it stands for each area the
// how many'th it was that counted; 0 for one that never did, or that is being written.
type Areas struct{ Memory, Current *ebpf.Map }

// Behind the last area there are as many bytes as programs take at once.
const Behind = 128

// AtEase is how many bytes all areas of a memory take, and counters that each has of its own, where fewer areas would do.
const AtEase = 64 << 20

// HowMany areas a memory is to have of which each takes so many bytes: the most, or half of these as often as it takes for
// them to be made at ease, but not fewer than the least.
func HowMany(most, least, each int) int {
	for most > least && most*each > AtEase {
		most /= 2
	}
	return most
}

// Line is what the room of an area is a multiple of.
const Line = 64

// Rounded up to whole lines.
func Rounded(n int) int { return (n + Line - 1) &^ (Line - 1) }

// LayOut the maps of a memory that is to be made with so many areas, each with so much room.
func LayOut(memory, current *ebpf.MapSpec, areas, room int) {
	memory.ValueSize, memory.Flags = uint32(areas*room+Behind), unix.BPF_F_MMAPABLE
	current.MaxEntries = uint32(1 + areas)
	current.Contents = []ebpf.MapKV{{Key: uint32(1), Value: uint32(1)}} // the first area counts
}

// Has tells whether there are areas at all.
func (a Areas) Has() bool { return a.Memory != nil && a.Current != nil && a.Current.MaxEntries() > 1 }

// Len is how many there are.
func (a Areas) Len() int { return int(a.Current.MaxEntries()) - 1 }

// Room of each, in bytes.
func (a Areas) Room() int { return int(a.Memory.ValueSize()-Behind) / a.Len() }

// Counting is the area that counts.
func (a Areas) Counting() (int, error) {
	var area uint32
	if err := a.Current.Lookup(uint32(0), &area); err != nil {
		return 0, err
	}
	if int(area) >= a.Len() {
		return 0, fmt.Errorf("area %d counts of a memory that has %d", area, a.Len())
	}
	return int(area), nil
}

// In has something done with the beginning of an area, in place: the rest is neither read nor written, however much it is.
func (a Areas) In(area, size int, do func(memory []byte) error) error {
	if area < 0 || area >= a.Len() || size < 0 || size > a.Room() {
		return fmt.Errorf("%d bytes of area %d of a memory that has %d, each of %d", size, area, a.Len(), a.Room())
	}
	return InPlace(a.Memory, area*a.Room(), size, do)
}

// InPlace has something done with a part of the memory of a map whose keys are numbers, which is one that can be mapped
// (BPF_F_MMAPABLE): its values stand there one behind the other, each at a multiple of 8 bytes.
func InPlace(m *ebpf.Map, at, size int, do func(memory []byte) error) error {
	begin := at &^ (os.Getpagesize() - 1)
	mapped, err := unix.Mmap(m.FD(), int64(begin), at-begin+size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("have the memory of programs in that of a process: %w", err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	return do(mapped[at-begin:])
}

// counted is the how many'th an area was that counted.
func (a Areas) counted(area int) (n uint32, err error) {
	err = a.Current.Lookup(uint32(1+area), &n)
	return n, err
}

// steadyTries are made to read an area before another is written over it.
const steadyTries = 100

// Steadily has the area read that counts, or that did when it was begun: again, if it is written anew meanwhile.
func (a Areas) Steadily(read func(area int) error) error {
	for range steadyTries {
		area, err := a.Counting()
		if err != nil {
			return err
		}
		before, err := a.counted(area)
		if err != nil {
			return err
		}
		wrong := read(area)
		after, err := a.counted(area)
		if err != nil {
			return err
		}
		if before == after && before != beingWritten {
			return wrong
		}
	}
	return errors.New("it is replaced faster than it can be read; ask again when it is replaced less often")
}

// beingWritten is an area that nobody reads: it did not count yet since it is written, or never.
const beingWritten = 0

// Replace what counts: so many bytes are written into an area that nobody reads, which counts from then on.
func (a Areas) Replace(size int, write func(area int, memory []byte) error) error {
	current, err := a.Counting()
	if err != nil {
		return err
	}
	if a.Len() == 1 {
		return fmt.Errorf("a memory has one area of %d bytes, which counts", a.Room())
	}
	counted := make([]uint32, a.Len())
	for i := range counted {
		if counted[i], err = a.counted(i); err != nil {
			return err
		}
	}
	number, err := NumberOf(a.Memory)
	if err != nil {
		return err
	}
	area, latest := unread(number, current, counted)
	if err := a.Current.Put(uint32(1+area), uint32(beingWritten)); err != nil { // for who reads without a program
		return err
	}
	if err := a.In(area, size, func(memory []byte) error { return write(area, memory) }); err != nil {
		return err
	}
	if err := a.Current.Put(uint32(1+area), max(1, latest+1)); err != nil {
		return err
	}
	if err := a.Current.Put(uint32(0), uint32(area)); err != nil {
		return err
	}
	readers.end(vacated{number, current, counted[current]})
	return nil
}

// unread gives an area of a memory that no program reads any more, and which one was the latest that counted.
func unread(number ebpf.MapID, current int, counted []uint32) (area int, latest uint32) {
	area = -1
	var all []vacated
	for i, n := range counted {
		latest = max(latest, n)
		if i == current {
			continue
		}
		if n == beingWritten && area < 0 {
			area = i // nobody ever read it, or who wrote it was killed
		}
		all = append(all, vacated{number, i, n})
	}
	if area < 0 {
		area = readers.await(all).area
	}
	return area, latest
}
