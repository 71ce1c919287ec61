package run

import (
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// unused refuses to remove a standalone function that a chain goes through.
func unused(name string) error {
	ns := namespace.Alone(name)
	if !netns.Exists(ns) {
		return nil
	}
	h, err := netns.Open(ns)
	if err != nil {
		return err
	}
	defer h.Close()
	owners, err := link.Owners(h)
	owners = slices.DeleteFunc(owners, func(o string) bool { return o == name })
	if err != nil || len(owners) == 0 {
		return err
	}
	return fmt.Errorf("function %s is in use by chain %s; take that down first: %w", name, strings.Join(owners, ", "), ErrInput)
}
