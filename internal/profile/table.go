package profile

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// table counts samples by what was seen. A sample's process is looked at soon after,
// while it is there; addresses become names in the end.
type table struct {
	kernel *kernelSymbols
	images map[uint32]*image // what each process runs now
	count  uint32            // of images
	stacks map[string]*stack
	files  map[fileID]*mapped
	// looked and spaces are what has been found out since the last look.
	looked map[uint32]bool
	spaces map[uint32]uint32
}

// mapped is a file that was mapped: open, and read when it is needed.
type mapped struct {
	file      *os.File // nil where it cannot be opened
	functions *functions
}

// stack is samples that are alike.
type stack struct {
	sample
	image *image
	count int
}

func newTable(k *kernelSymbols) *table {
	return &table{kernel: k, images: map[uint32]*image{}, stacks: map[string]*stack{}, files: map[fileID]*mapped{},
		looked: map[uint32]bool{}, spaces: map[uint32]uint32{}}
}

func (t *table) take(r record) {
	if r.symbol != nil {
		t.kernel.since = append(t.kernel.since, *r.symbol)
		return
	}
	s := *r.sample
	if s.whom == nil {
		s.whom = &whom{task: t.space(s)}
	}
	i := t.image(s.pid)
	key := keyOf(s, i.number)
	found, ok := t.stacks[key]
	if !ok {
		found = &stack{sample: s, image: i}
		t.stacks[key] = found
		for _, address := range s.user {
			i.unsure = i.unsure || i.mapping(address) == nil
		}
	}
	found.count++
}

func keyOf(s sample, image uint32) string {
	b := make([]byte, 0, 28+8*(len(s.kernel)+len(s.user)))
	for _, n := range []uint32{s.cpu, image, s.whom.task, s.whom.device, s.whom.softirq, s.whom.index, uint32(len(s.kernel))} {
		b = binary.NativeEndian.AppendUint32(b, n)
	}
	for _, addresses := range [][]uint64{s.kernel, s.user} {
		for _, a := range addresses {
			b = binary.NativeEndian.AppendUint64(b, a)
		}
	}
	return string(b)
}

// image of a process, a new one where it executes something else than before.
func (t *table) image(pid uint32) *image {
	i := t.images[pid]
	if i != nil && t.looked[pid] {
		return i
	}
	t.looked[pid] = true
	if exe := executable(pid); i == nil || exe != "" && exe != i.exe {
		t.count++
		i = newImage(pid, t.count)
		t.images[pid] = i
		t.open(i)
	}
	return i
}

// space is the network namespace that a thread is in; 0 where it cannot be told.
func (t *table) space(s sample) uint32 {
	if s.tid == 0 {
		return 0
	}
	inode, ok := t.spaces[s.tid]
	if !ok {
		var st unix.Stat_t
		if unix.Stat(fmt.Sprintf("/proc/%d/task/%d/ns/net", s.pid, s.tid), &st) == nil {
			inode = uint32(st.Ino)
		}
		t.spaces[s.tid] = inode
	}
	return inode
}

// open the files that are mapped while the process is there.
func (t *table) open(i *image) {
	for _, m := range i.maps {
		if m.file == (fileID{}) || t.files[m.file] != nil {
			continue
		}
		f, err := i.openFile(m)
		if err != nil {
			f = nil
		}
		t.files[m.file] = &mapped{file: f}
	}
}

// look again at processes whose memory has grown.
func (t *table) look() {
	for pid := range t.looked {
		if i := t.images[pid]; i.unsure {
			i.unsure = false
			i.readMaps()
			t.open(i)
		}
	}
	clear(t.looked)
	clear(t.spaces)
}

// Unknown is a function that no symbol names.
const Unknown = "[unknown]"

// frames of a stack, the outermost first.
func (t *table) frames(s *stack) []Frame {
	out := make([]Frame, 0, len(s.user)+len(s.kernel))
	for i := len(s.user) - 1; i >= 0; i-- {
		out = append(out, Frame{Function: t.user(s.image, before(s.user[i], i))})
	}
	for i := len(s.kernel) - 1; i >= 0; i-- {
		out = append(out, Frame{Function: t.kernel.at(before(s.kernel[i], i)), Kernel: true})
	}
	return out
}

// before gives an address in the call itself: all but the innermost are where it
// will return to, which may be the next function.
func before(address uint64, depth int) uint64 {
	if depth > 0 {
		return address - 1
	}
	return address
}

func (t *table) user(i *image, address uint64) string {
	m := i.mapping(address)
	if m == nil || m.path == "" {
		return Unknown
	}
	if m.file == (fileID{}) {
		return m.path // such as [vdso]
	}
	if name := t.functions(m.file).at(address - m.low + m.offset); name != "" {
		return name
	}
	return "[unknown in " + filepath.Base(m.path) + "]"
}

func (t *table) functions(id fileID) *functions {
	f := t.files[id]
	if f == nil || f.file == nil {
		return &functions{}
	}
	if f.functions == nil {
		f.functions = readFunctions(f.file)
	}
	return f.functions
}

func (t *table) close() {
	for _, f := range t.files {
		if f.file != nil {
			_ = f.file.Close()
		}
	}
}
