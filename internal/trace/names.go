package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/cilium/ebpf/btf"
)

// names are the kernel's own words for reasons and places: they differ from one
// kernel to the next.
type names struct {
	reasons map[uint32]string
	symbols func() symbols
}

func newNames() *names {
	n := &names{reasons: map[uint32]string{}, symbols: sync.OnceValue(readSymbols)}
	types, err := btf.LoadKernelSpec()
	if err != nil {
		return n
	}
	var reasons *btf.Enum
	if types.TypeByName("skb_drop_reason", &reasons) == nil {
		for _, v := range reasons.Values {
			n.reasons[uint32(v.Value)] = strings.TrimPrefix(v.Name, "SKB_DROP_REASON_")
		}
	}
	return n
}

// reason is the kernel's word for a number.
func (n *names) reason(number uint32) string {
	if name, ok := n.reasons[number]; ok {
		return name
	}
	return fmt.Sprintf("reason %d", number)
}

// function that an address of the kernel lies in, empty where that is not told.
func (n *names) function(address uint64) string { return n.symbols().at(address) }

// symbols are the kernel's functions by where they begin, in that order.
type symbols []symbol

type symbol struct {
	address uint64
	name    string
}

func readSymbols() symbols {
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		return nil
	}
	return parseSymbols(text)
}

// parseSymbols reads /proc/kallsyms. Where addresses are hidden all are zero, and
// nothing is found.
func parseSymbols(text []byte) (all symbols) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 3 || !strings.Contains("tTwW", f[1]) {
			continue
		}
		if address, err := strconv.ParseUint(f[0], 16, 64); err == nil && address > 0 {
			all = append(all, symbol{address, f[2]})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].address < all[j].address })
	return all
}

func (s symbols) at(address uint64) string {
	i := sort.Search(len(s), func(i int) bool { return s[i].address > address })
	if i == 0 {
		return ""
	}
	return s[i-1].name
}
