package function

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// OneArm tells that both sides are one interface, by which packets come in and leave again.
func (s Site) OneArm() bool { return s.West != "" && s.West == s.East }

// OneArmed is a kind that can be where both sides of a site are one interface: it does
// not tell the directions apart, or by what packets are.
type OneArmed interface {
	Kind
	// OnOneArm says what of it cannot be there; nil where all can.
	OnOneArm(site Site, options any) error
}

// OneWay says that a direction is told by the interface that packets come in by, which
// is no use where both come in by the same; nil where a site acts on both.
func OneWay(site Site) error {
	if site.Direction == api.Forward || site.Direction == api.Reverse {
		return fmt.Errorf("what is of direction %s is told by the interface that it comes in by", site.Direction)
	}
	return nil
}
