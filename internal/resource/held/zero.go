package held

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
)

// Zero some of the counters that each core has of its own, from the first on. Counter is what one core has of one.
func Zero[Counter any](counters *ebpf.Map, first, n uint32) error {
	if n == 0 {
		return nil
	}
	cores, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = first + uint32(i)
	}
	_, err = counters.BatchUpdate(keys, make([]Counter, int(n)*cores), nil)
	if errors.Is(err, ebpf.ErrNotSupported) {
		err = nil
		for _, key := range keys {
			err = errors.Join(err, counters.Put(key, make([]Counter, cores)))
		}
	}
	if err != nil {
		return fmt.Errorf("set %d counters to zero: %w", n, err)
	}
	return nil
}
