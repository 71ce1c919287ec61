package function

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// The ways that packets go, by number.
const (
	ForwardWay = 0
	ReverseWay = 1
)

// Inline is a kind that needs no namespace: all that it does is a step that packets take where
// they come by.
type Inline interface {
	Kind
	// Steps of the function with these options; the error says what of them needs a namespace.
	Steps(options any) (Steps, error)
}

// Steps are what a function does to packets that come by, a step for each way.
type Steps struct {
	// Step for packets of a way, by its number. Whoever puts steps together gives it its slot.
	Step func(way int) pass.Step
	// Flows is for how many flows or prefixes it remembers something, as in [pass.Spec].
	Flows uint32
	// Tap makes what the steps send copies to, at the end of a pair that begins at the other end that
	// it is given; nil where they send none. Copied are the ends of what they send.
	Tap    func(site Site, other link.End) []resource.Resource
	Copied pass.Ends
	// Firewall is the rules that its step asks, which whoever puts steps together gives their slot
	// and name; nil where it asks none. It remembers as many connections.
	Firewall    *pass.Firewall
	Connections uint32
	// NAT is what its step translates at a site, of which the addresses count; whoever puts steps together
	// gives it its slot and name. Nil where it translates nothing. It remembers as many connections, too.
	NAT func(site Site) pass.NAT
	// Less tells that the function does more with a namespace: one that is left to the plan then has that.
	Less bool
}

// Meets tells whether packets of a way take the step of a function of a direction. Rules that ask
// for connections see both ways, of which they let the other pass.
func (s Steps) Meets(direction api.Direction, way int) bool {
	return s.Acts(direction, way) || s.Firewall != nil && s.Firewall.Follows()
}

// Acts tells whether a function of a direction does something to packets of a way. What translates does
// it to those that open a connection and to the answers.
func (s Steps) Acts(direction api.Direction, way int) bool {
	return s.NAT != nil || OnWay(direction, way)
}

// Opens is the way of the packets that open the connections which a function of a direction translates.
func Opens(direction api.Direction) int {
	if direction == api.Reverse {
		return ReverseWay
	}
	return ForwardWay
}

// OnWay tells whether a function of a direction acts on the packets of a way.
func OnWay(direction api.Direction, way int) bool {
	switch direction {
	case api.Forward:
		return way == ForwardWay
	case api.Reverse:
		return way == ReverseWay
	}
	return true
}

// Takes has what comes to the site take the steps before the kernel of its namespace looks at
// it, by the directions that the function acts on. The error is that of telling the steps.
func (s Site) Takes(steps Steps, err error) ([]resource.Resource, error) {
	if err != nil {
		return nil, err
	}
	var all []resource.Resource
	for way, device := range []string{ForwardWay: s.West, ReverseWay: s.East} {
		if device == "" || way == ReverseWay && s.OneArm() || !OnWay(s.Direction, way) {
			continue
		}
		spec := pass.Spec{Device: device, Steps: []pass.Step{steps.Step(way)}, Flows: steps.Flows}
		all = append(all, resource.New(s.Namespace, spec, s.Needs...))
	}
	return all, nil
}
