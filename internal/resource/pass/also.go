package pass

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Also has the passes of an interface be at another one, too, which has none: they count and remember what comes in by both. What is put in
// their place at the first changes nothing at the other.
func Also(p resource.Place, from, at string) error {
	return p.Do(func() error {
		was, err := p.Device(from)
		if err != nil {
			return err
		}
		is, err := p.Device(at)
		if err != nil {
			return err
		}
		all, err := find(p, was.Attrs().Index)
		defer held.CloseAll(all)
		if err != nil {
			return failed(p, from, err)
		}
		there, err := find(p, is.Attrs().Index)
		defer held.CloseAll(there)
		if err != nil || len(there) > 0 || len(all) == 0 {
			return failed(p, at, err)
		}
		return failed(p, at, held.Put(p, is.Attrs().Index, held.Passes, all[0].Program.Program))
	})
}
