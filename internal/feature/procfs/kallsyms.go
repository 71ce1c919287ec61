package procfs

import (
	"bufio"
	"bytes"
	"sort"
	"strconv"
	"strings"
)

// KernelSymbols are the kernel's functions by where they begin, in that order.
type KernelSymbols []KernelSymbol

// KernelSymbol is where a function of the kernel, a module or a BPF program begins.
type KernelSymbol struct {
	Address uint64
	Name    string
}

// KernelSymbols reads /proc/kallsyms. Where it cannot be read, or addresses are
// hidden (kernel.kptr_restrict), there are none.
func (r Root) KernelSymbols() KernelSymbols {
	text, _ := r.Text("proc/kallsyms")
	return ParseKernelSymbols(text)
}

// ParseKernelSymbols reads the text of /proc/kallsyms. Hidden addresses are zero,
// and left out.
func ParseKernelSymbols(text string) (all KernelSymbols) {
	lines := bufio.NewScanner(bytes.NewReader([]byte(text)))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 3 || !strings.Contains("tTwW", f[1]) {
			continue
		}
		if address, err := strconv.ParseUint(f[0], 16, 64); err == nil && address > 0 {
			all = append(all, KernelSymbol{address, f[2]})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Address < all[j].Address })
	return all
}

// At is the function that an address lies in, empty where none is known.
func (s KernelSymbols) At(address uint64) string {
	i := sort.Search(len(s), func(i int) bool { return s[i].Address > address })
	if i == 0 {
		return ""
	}
	return s[i-1].Name
}
