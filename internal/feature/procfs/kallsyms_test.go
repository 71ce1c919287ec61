package procfs

import (
	"sort"
	"testing"
)

const someSymbols = "ffffffff81000100 T second\nffffffff81000000 t first\nffffffff81000200 d data\nffffffff81000180 t inside\t[module]\nrubbish\n0000000000000000 T hidden\n"

func TestKernelSymbols(t *testing.T) {
	all := ParseKernelSymbols(someSymbols)
	for address, want := range map[uint64]string{
		0xffffffff80ffffff: "", 0xffffffff81000000: "first", 0xffffffff810000ff: "first", 0xffffffff81000105: "second", 0xffffffff81000300: "inside",
	} {
		if got := all.At(address); got != want {
			t.Errorf("%x is in %q, want %q", address, got, want)
		}
	}
	if got := KernelSymbols(nil).At(1); got != "" {
		t.Errorf("without symbols: %q", got)
	}
}

func FuzzParseKernelSymbols(f *testing.F) {
	f.Add(someSymbols)
	f.Fuzz(func(t *testing.T, text string) {
		all := ParseKernelSymbols(text)
		if !sort.SliceIsSorted(all, func(i, j int) bool { return all[i].Address < all[j].Address }) {
			t.Errorf("not in order: %v", all)
		}
		for _, s := range all {
			if s.Name == "" || s.Address == 0 || all.At(s.Address) == "" {
				t.Errorf("%+v is not found", s)
			}
		}
	})
}
