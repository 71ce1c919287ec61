package pass

import (
	"crypto/sha256"
	"encoding/binary"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// WhoseStep is the function of that name, as passes note whose a step is; it is not 0.
func WhoseStep(function string) uint64 {
	sum := sha256.Sum256([]byte(function))
	return binary.NativeEndian.Uint64(sum[:])
}

// Whose are the functions whose steps the passes at the owner's interfaces have, by these. One that nobody noted is 0.
func Whose(p resource.Place) (map[string][]uint64, error) {
	mine, err := p.Mine()
	if err != nil {
		return nil, err
	}
	whose := map[string][]uint64{}
	err = p.Do(func() error {
		for index, device := range mine {
			all, err := find(p, index)
			for _, a := range all {
				if err == nil {
					whose[device], err = a.whose(whose[device])
				}
			}
			held.CloseAll(all)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return whose, err
}

// whose appends the functions whose steps a pass has.
func (a attached) whose(all []uint64) ([]uint64, error) {
	c, err := a.read()
	if err != nil {
		return append(all, 0), nil // another version's
	}
	noted, err := a.carrying()
	for _, s := range c.steps {
		all = append(all, noted[s.Slot].Whose)
	}
	return all, err
}
