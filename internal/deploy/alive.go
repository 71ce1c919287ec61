package deploy

import (
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
)

// Alive is an error if something of a chain has ended that packets need and nothing
// starts again.
func Alive(p *plan.Plan) error {
	for _, r := range p.Resources {
		k, dies := kindOf(r.Kind).(resource.Living)
		if !dies {
			continue
		}
		h, err := netns.Open(r.Namespace)
		if err != nil {
			return err
		}
		err = k.Alive(resource.At(h, p.Chain))
		h.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func kindOf(name string) resource.Kind {
	for _, stage := range stages {
		for _, k := range stage {
			if k.Name() == name {
				return k
			}
		}
	}
	return nil
}
