package deploy

import (
	"context"
	"fmt"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

// Possible is an error that says what of a plan this machine does not let be made. It
// changes nothing: what has to be tried is tried in a namespace that nobody finds.
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
	if err := Vacant(p); err != nil {
		return err
	}
	return tuning.Try(tried(p))
}

// Vacant is an error where somebody else has a port of this machine's at which a container of a plan is to be published.
func Vacant(p *plan.Plan) error {
	var containers, networks []resource.Spec
	for _, r := range p.Resources {
		switch r.Kind {
		case container.KindName:
			containers = append(containers, r.Spec)
		case container.NetworkKindName:
			networks = append(networks, r.Spec)
		}
	}
	return container.Vacant(context.Background(), p.Chain, containers, networks)
}

// tried is what is set in namespaces and at links, which can be tried elsewhere before. Other
// interfaces have drivers that cannot be made for that.
func tried(p *plan.Plan) (specs []tuning.Spec) {
	links := map[resource.Interface]bool{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			links[resource.Interface{Namespace: s.A.Namespace, Device: s.A.Device}] = true
			links[resource.Interface{Namespace: s.B.Namespace, Device: s.B.Device}] = true
		}
	}
	for _, r := range p.Resources {
		s, is := r.Spec.(tuning.Spec)
		if is && (s.Device == tuning.Loopback || links[resource.Interface{Namespace: r.Namespace, Device: s.Device}]) {
			specs = append(specs, s)
		}
	}
	return specs
}
