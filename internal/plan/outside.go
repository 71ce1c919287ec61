package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/wiring"
)

// checkOutside wants a port for ends to be behind that are outside the host.
func (b *builder) checkOutside() error {
	if _, can := b.wiring.(wiring.Outer); can || !b.chain.Spec.Outside {
		return nil
	}
	var others []string
	for _, name := range slices.Sorted(maps.Keys(b.catalogue.Wirings)) {
		if _, can := b.catalogue.Wirings[name].(wiring.Outer); can {
			others = append(others, name)
		}
	}
	return fmt.Errorf("outside: wiring %s has no port of the host that ends outside could be behind; use wiring: %s", b.wiring.Name(), strings.Join(others, " or "))
}
