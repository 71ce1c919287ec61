package function

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// The ways that packets go, by number.
const (
	ForwardWay = 0
	ReverseWay = 1
)

// Takes has what comes to the site take a step before the kernel of its namespace looks at
// it, by the directions that the function acts on. The step of a way is made by its number,
// and flows is as in [pass.Spec].
func (s Site) Takes(flows uint32, step func(way int) pass.Step) (all []resource.Resource) {
	ways := []string{ForwardWay: s.West, ReverseWay: s.East}
	for way, device := range ways {
		switch {
		case device == "", way == ReverseWay && s.OneArm():
		case way == ForwardWay && s.Direction == api.Reverse, way == ReverseWay && s.Direction == api.Forward:
		default:
			spec := pass.Spec{Device: device, Steps: []pass.Step{step(way)}, Flows: flows}
			all = append(all, resource.New(s.Namespace, spec, s.Needs...))
		}
	}
	return all
}
