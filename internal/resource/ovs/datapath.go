package ovs

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// kernelDatapath is the interface that stands for the datapath of type system.
const kernelDatapath = "ovs-system"

// removeDatapath of the kernel, which outlives its daemon, and with it the ports that were
// moved elsewhere, which nothing else removes. The one in user space is gone with its
// daemon.
func removeDatapath(owner, ref string) error {
	h, err := netns.Open(ref)
	if err != nil {
		return err
	}
	defer h.Close()
	var none netlink.LinkNotFoundError
	if _, err := h.LinkByName(kernelDatapath); errors.As(err, &none) {
		return nil
	} else if err != nil {
		return err
	}
	if _, err := run(ref, Spec{Owner: owner}, "", "ovs-dpctl", "del-dp", "system@"+kernelDatapath); err != nil {
		return fmt.Errorf("remove the datapath of chain %s: %w", owner, err)
	}
	return nil
}
