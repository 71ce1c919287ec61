package deploy

import (
	"fmt"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/macvlan"
)

// Possible is an error that says what of a plan this machine does not let be made. It
// changes nothing.
func Possible(p *plan.Plan) error {
	specs, taken := map[string][]resource.Spec{}, map[string]bool{}
	for _, r := range p.Resources {
		specs[r.Kind] = append(specs[r.Kind], r.Spec)
		taken[r.ID] = true
	}
	for _, s := range specs[macvlan.KindName] {
		above := s.(macvlan.Spec).Parent
		if above.OfHost() && taken[resource.ID(adopted.KindName, "", above.Device)] {
			return fmt.Errorf("parent %s: an endpoint takes this interface into its namespace, where nothing of the host's can be over it; name another", above.Device)
		}
	}
	for _, stage := range stages {
		for _, k := range stage {
			wary, is := k.(resource.Wary)
			if !is || len(specs[k.Name()]) == 0 {
				continue
			}
			if err := wary.Possible(specs[k.Name()]); err != nil {
				return err
			}
		}
	}
	return nil
}
