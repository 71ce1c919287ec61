package trace

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// programs names places in programs, by what they and their libraries say of
// themselves. Of a program that has ended nothing is known.
type programs struct {
	maps  map[int][]mapping
	files map[string]image
}

// mapping is a part of a file in a process's memory.
type mapping struct {
	start, end, offset uint64
	path               string
}

// image is a file's functions by where they lie in it.
type image struct {
	functions []function // by where they begin
	parts     []elf.ProgHeader
}

// function of a program: what lies behind its end is another's, which a stripped
// program does not name.
type function struct {
	start, end uint64
	name       string
}

func newPrograms() *programs {
	return &programs{maps: map[int][]mapping{}, files: map[string]image{}}
}

// name of a place: its function, else its file, else that it is unknown.
func (p *programs) name(pid int, address uint64) string {
	maps, known := p.maps[pid]
	if !known {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		maps = parseMaps(string(text))
		p.maps[pid] = maps
	}
	for _, m := range maps {
		if address < m.start || address >= m.end {
			continue
		}
		file, known := p.files[m.path]
		if !known {
			file = readImage(fmt.Sprintf("/proc/%d/root%s", pid, m.path))
			p.files[m.path] = file
		}
		if name := file.at(address - m.start + m.offset); name != "" {
			return name
		}
		return "[" + filepath.Base(m.path) + "]"
	}
	return "[unknown]"
}

// parseMaps reads the executable parts of /proc/PID/maps (proc_pid_maps(5)).
func parseMaps(text string) (all []mapping) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 6 || !strings.Contains(f[1], "x") {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		start, errStart := strconv.ParseUint(from, 16, 64)
		end, errEnd := strconv.ParseUint(to, 16, 64)
		offset, errOffset := strconv.ParseUint(f[2], 16, 64)
		if errStart == nil && errEnd == nil && errOffset == nil {
			all = append(all, mapping{start, end, offset, strings.Join(f[5:], " ")})
		}
	}
	return all
}

// readImage reads a file's functions; what is no program has none.
func readImage(path string) (i image) {
	file, err := elf.Open(path)
	if err != nil {
		return i
	}
	defer func() { _ = file.Close() }()
	for _, part := range file.Progs {
		if part.Type == elf.PT_LOAD {
			i.parts = append(i.parts, part.ProgHeader)
		}
	}
	own, _ := file.Symbols() // stripped programs have none
	shared, _ := file.DynamicSymbols()
	for _, s := range append(own, shared...) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value > 0 {
			i.functions = append(i.functions, function{s.Value, s.Value + s.Size, s.Name})
		}
	}
	slices.SortStableFunc(i.functions, func(a, b function) int { return cmp.Compare(a.start, b.start) })
	return i
}

// at is the function at a place in the file.
func (i image) at(offset uint64) string {
	for _, part := range i.parts {
		if offset >= part.Off && offset < part.Off+part.Filesz {
			return i.function(offset - part.Off + part.Vaddr)
		}
	}
	return ""
}

func (i image) function(address uint64) string {
	n, _ := slices.BinarySearchFunc(i.functions, address, func(f function, a uint64) int {
		if f.start <= a {
			return -1
		}
		return 1
	})
	if n == 0 || address >= i.functions[n-1].end {
		return ""
	}
	return i.functions[n-1].name
}
