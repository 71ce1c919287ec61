package held

import (
	"slices"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// Once reads what is in an object a single time, whatever is loaded of it: that takes longer than it
// takes the kernel to have a program. Each caller gets a copy that is its own. Types and lines of
// source are left out, which the kernel would check and keep anew for every program and every map.
// Objects whose programs are fitted to the kernel's types cannot be read so.
func Once(read func() (*ebpf.CollectionSpec, error)) func() (*ebpf.CollectionSpec, error) {
	once := sync.OnceValues(func() (*ebpf.CollectionSpec, error) {
		spec, err := read()
		if err == nil {
			bare(spec)
		}
		return spec, err
	})
	return func() (*ebpf.CollectionSpec, error) {
		spec, err := once()
		if err != nil {
			return nil, err
		}
		return spec.Copy(), nil
	}
}

// bare of all that is only told of programs and maps. What constants are called is needed to set them,
// and by their types the kernel tells the functions of a program that it takes one by one, or calls itself.
func bare(spec *ebpf.CollectionSpec) {
	spec.Types = nil
	for _, p := range spec.Programs {
		typed := slices.ContainsFunc(p.Instructions[1:], func(in asm.Instruction) bool {
			of := btf.FuncMetadata(&in)
			return of != nil && of.Linkage == btf.GlobalFunc || in.IsLoadOfFunctionPointer()
		})
		for i, in := range p.Instructions {
			alone := in
			alone.Metadata = asm.Metadata{}
			if of := btf.FuncMetadata(&in); typed && of != nil {
				alone = btf.WithFuncMetadata(alone, of)
			}
			p.Instructions[i] = alone.WithSymbol(in.Symbol()).WithReference(in.Reference())
		}
	}
	for _, m := range spec.Maps {
		if !strings.HasPrefix(m.Name, ".") {
			m.Key, m.Value = nil, nil
		}
		if m.InnerMap != nil {
			m.InnerMap.Key, m.InnerMap.Value = nil, nil
		}
	}
}
