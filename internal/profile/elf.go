package profile

import (
	"debug/elf"
	"debug/gosym"
	"io"
	"sort"
)

// functions of a program or library, by their addresses in the file.
type functions struct {
	loads []elf.ProgHeader
	all   []function
}

type function struct {
	low, high uint64
	name      string
}

// readFunctions reads the symbols of an ELF file; of a stripped one, those of its
// dynamic symbols, and of a Go program's table of lines. A file that is none has no
// functions.
func readFunctions(r io.ReaderAt) *functions {
	fs := &functions{}
	f, err := elf.NewFile(r)
	if err != nil {
		return fs
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			fs.loads = append(fs.loads, p.ProgHeader)
		}
	}
	static, _ := f.Symbols()         // none in a stripped file
	dynamic, _ := f.DynamicSymbols() // none in a static one
	fs.add(dynamic)
	fs.add(static)
	if len(static) == 0 {
		fs.addGo(f)
	}
	sort.SliceStable(fs.all, func(i, j int) bool { return fs.all[i].low < fs.all[j].low })
	return fs
}

func (fs *functions) add(symbols []elf.Symbol) {
	for _, s := range symbols {
		kind := elf.ST_TYPE(s.Info)
		if (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC) && s.Section != elf.SHN_UNDEF && s.Size > 0 {
			fs.all = append(fs.all, function{s.Value, s.Value + s.Size, s.Name})
		}
	}
}

// addGo adds the functions that a Go program keeps for its own tracebacks.
func (fs *functions) addGo(f *elf.File) {
	section, code := f.Section(".gopclntab"), f.Section(".text")
	if section == nil {
		section = f.Section(".data.rel.ro.gopclntab")
	}
	if section == nil || code == nil {
		return
	}
	text, err := section.Data()
	if err != nil {
		return
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(text, code.Addr))
	if err != nil {
		return
	}
	for i := range table.Funcs {
		fn := &table.Funcs[i]
		fs.all = append(fs.all, function{fn.Entry, fn.End, fn.Name})
	}
}

// at gives the function that a place in the file belongs to, empty where none says so.
func (fs *functions) at(offset uint64) string {
	for _, p := range fs.loads {
		if offset >= p.Off && offset-p.Off < p.Filesz {
			return fs.holding(p.Vaddr + offset - p.Off)
		}
	}
	return ""
}

// holding is the last function to begin before an address, of those that reach it:
// some lie within others.
func (fs *functions) holding(address uint64) string {
	n := sort.Search(len(fs.all), func(i int) bool { return fs.all[i].low > address })
	for i := n - 1; i >= 0 && i >= n-nested; i-- {
		if address < fs.all[i].high {
			return fs.all[i].name
		}
	}
	return ""
}

// nested is how many functions that have ended are passed over in looking for one
// that holds an address.
const nested = 8
