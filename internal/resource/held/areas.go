package held

import (
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
// how many'th it was that counted; 0 for one that never did.
type Areas struct{ Memory, Current *ebpf.Map }

// Behind the last area there are as many bytes as programs take at once.
const Behind = 128

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
		if err := a.Current.Lookup(uint32(1+i), &counted[i]); err != nil {
			return err
		}
	}
	number, err := NumberOf(a.Memory)
	if err != nil {
		return err
	}
	area, latest := unread(number, current, counted)
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
		if n == 0 && area < 0 {
			area = i // nobody ever read it
		}
		all = append(all, vacated{number, i, n})
	}
	if area < 0 {
		area = readers.await(all).area
	}
	return area, latest
}
