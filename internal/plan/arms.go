package plan

import (
	"errors"
	"fmt"

	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/wiring"
)

// oneArm tells whether the wiring gives each function one interface instead of two.
func (b *builder) oneArm() bool {
	w, is := b.wiring.(wiring.Armed)
	return is && w.Arms(b.wiringOptions()) == 1
}

// oneArm tells whether both of a node's sides are one interface.
func (n Node) oneArm() bool { return n.West != nil && n.East != nil && n.West.Device == n.East.Device }

// checkArms refuses what tells directions apart by the interface where there is one for
// both.
func (b *builder) checkArms(kind function.Kind, site function.Site, options any) error {
	if !site.OneArm() {
		return nil
	}
	why := errors.New("it needs one for each")
	if k, can := kind.(function.OneArmed); can {
		if why = k.OnOneArm(site, options); why == nil {
			return nil
		}
	}
	return fmt.Errorf("kind %s cannot be at %s, where one interface is for both sides: %w; write %s: {arms: 2}, or leave it out", kind.Name(), site.Node, why, b.wiring.Name())
}
