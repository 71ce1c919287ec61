package trace

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cilium/ebpf/btf"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// names are the kernel's own words for reasons and places: they differ from one
// kernel to the next.
type names struct {
	reasons map[uint32]string
	symbols func() procfs.KernelSymbols
}

func newNames() *names {
	n := &names{reasons: map[uint32]string{}, symbols: sync.OnceValue(procfs.Root("/").KernelSymbols)}
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
func (n *names) function(address uint64) string { return n.symbols().At(address) }
