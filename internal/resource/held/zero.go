package held

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
)

// zeroedAtOnce are so many counters: a process has no more of them in its memory, however many there are.
const zeroedAtOnce = 1024

// Zero some of the counters that each core has of its own, from the first on. Counter is what one core has of one.
func Zero[Counter any](counters *ebpf.Map, first, n uint32) error {
	cores, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	many := min(n, zeroedAtOnce)
	keys, zero := make([]uint32, many), make([]Counter, int(many)*cores)
	for done := uint32(0); done < n; done += many {
		many = min(many, n-done)
		for i := range many {
			keys[i] = first + done + i
		}
		if err := zeroAll(counters, keys[:many], zero[:int(many)*cores]); err != nil {
			return fmt.Errorf("set %d counters to zero: %w", n, err)
		}
	}
	return nil
}

// zeroAll counters of these numbers at once, or one by one where the kernel cannot.
func zeroAll[Counter any](counters *ebpf.Map, keys []uint32, zero []Counter) error {
	_, err := counters.BatchUpdate(keys, zero, nil)
	if !errors.Is(err, ebpf.ErrNotSupported) {
		return err
	}
	err = nil
	for _, key := range keys {
		err = errors.Join(err, counters.Put(key, zero[:len(zero)/len(keys)]))
	}
	return err
}
