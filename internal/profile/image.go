package profile

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

// image is what one process runs, from one exec to the next.
type image struct {
	pid uint32
	// number tells images apart.
	number uint32
	name   string
	// exe is what it executes, empty for a thread of the kernel.
	exe  string
	maps []mapping
	// unsure is that an address was in none of maps, which may have grown.
	unsure bool
}

// fileID names a mapped file, whatever its path.
type fileID struct {
	device string
	inode  uint64
}

// mapping is what can be executed of a process's memory.
type mapping struct {
	low, high, offset uint64
	path              string
	file              fileID // zero for none
}

func newImage(pid, number uint32) *image {
	if pid == 0 {
		return &image{number: number, name: "swapper"}
	}
	i := &image{pid: pid, number: number, name: Unknown, exe: executable(pid)}
	if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
		i.name = strings.TrimSpace(string(comm))
	}
	i.readMaps()
	return i
}

// executable of a process; empty for threads of the kernel and what is gone.
func executable(pid uint32) string {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return exe
}

// readMaps keeps what is known where the process has gone meanwhile.
func (i *image) readMaps() {
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", i.pid)); err == nil && len(text) > 0 {
		i.maps = parseMaps(string(text))
	}
}

// mapping that an address lies in; nil for none.
func (i *image) mapping(address uint64) *mapping {
	n := sort.Search(len(i.maps), func(n int) bool { return i.maps[n].high > address })
	if n < len(i.maps) && i.maps[n].low <= address {
		return &i.maps[n]
	}
	return nil
}

// openFile opens what is mapped, by the mapping itself where that is allowed: a path
// may have another file by now.
func (i *image) openFile(m mapping) (*os.File, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/map_files/%x-%x", i.pid, m.low, m.high))
	if err != nil {
		f, err = os.Open(fmt.Sprintf("/proc/%d/root%s", i.pid, m.path))
	}
	return f, err
}

// parseMaps reads the executable mappings of /proc/PID/maps (proc_pid_maps(5)), in
// their order; lines that are not understood are left out.
func parseMaps(text string) (all []mapping) {
	for line := range strings.Lines(text) {
		if m, ok := parseMapping(line); ok {
			all = append(all, m)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].low < all[j].low })
	return apart(all)
}

// apart leaves out what begins in the mapping before it, which the kernel never
// writes.
func apart(all []mapping) []mapping {
	kept := all[:0]
	for _, m := range all {
		if len(kept) == 0 || m.low >= kept[len(kept)-1].high {
			kept = append(kept, m)
		}
	}
	return kept
}

func parseMapping(line string) (m mapping, ok bool) {
	f := strings.Fields(line)
	if len(f) < 5 || !strings.Contains(f[1], "x") {
		return m, false
	}
	low, high, _ := strings.Cut(f[0], "-")
	errs := make([]error, 4)
	m.low, errs[0] = strconv.ParseUint(low, 16, 64)
	m.high, errs[1] = strconv.ParseUint(high, 16, 64)
	m.offset, errs[2] = strconv.ParseUint(f[2], 16, 64)
	m.file.inode, errs[3] = strconv.ParseUint(f[4], 10, 64)
	for _, err := range errs {
		if err != nil {
			return m, false
		}
	}
	m.file.device = f[3]
	if m.file.inode == 0 {
		m.file = fileID{}
	}
	m.path = pathOf(line)
	return m, m.low < m.high
}

// pathOf a line is the rest of it after five fields, spaces included.
func pathOf(line string) string {
	rest := line
	for range 5 {
		rest = strings.TrimLeft(rest, " \t")
		end := strings.IndexAny(rest, " \t\n")
		if end < 0 {
			return ""
		}
		rest = rest[end:]
	}
	return strings.TrimSuffix(strings.TrimSpace(rest), " (deleted)")
}
