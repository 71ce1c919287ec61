package profile

import "nfchain.dev/nfchain/internal/feature/procfs"

// kernelSymbols are the kernel's functions when sampling began, and the BPF programs
// that were loaded since.
type kernelSymbols struct {
	begun procfs.KernelSymbols
	since []kernelSymbol
}

type kernelSymbol struct {
	address, size uint64
	name          string
}

func readKernelSymbols() *kernelSymbols {
	return &kernelSymbols{begun: procfs.Root("/").KernelSymbols()}
}

// hidden tells that the kernel does not say where its functions are.
func (k *kernelSymbols) hidden() bool { return len(k.begun) == 0 }

// at gives the function that an address lies in, or [Unknown].
func (k *kernelSymbols) at(address uint64) string {
	for _, s := range k.since {
		if address >= s.address && address-s.address < s.size {
			return s.name
		}
	}
	if name := k.begun.At(address); name != "" {
		return name
	}
	return Unknown
}
