package steer

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Steered tells whether a program of nfchain's is at an interface of a place, by its index.
// The far end of such a port takes packets in behind its driver.
func Steered(p resource.Place, index int) (is bool, err error) {
	err = p.Do(func() error {
		all, err := find(p, index)
		defer held.CloseAll(all)
		is = len(all) > 0
		return err
	})
	return is, err
}
