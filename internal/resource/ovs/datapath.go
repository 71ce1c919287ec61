package ovs

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// kernelDatapath is the interface that stands for the datapath of type system.
const kernelDatapath = "ovs-system"

// RemoveDatapath ends the owner's daemons in a namespace and removes their datapath in
// the kernel, with the ports that were moved elsewhere, which nothing else removes. The
// datapath in user space goes with its daemon. Nothing there is success.
func RemoveDatapath(owner, ref string) error {
	if err := end(owner, ref); err != nil {
		return err
	}
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
	if _, err := run(ref, Spec{owner}, "", "ovs-dpctl", "del-dp", "system@"+kernelDatapath); err != nil {
		return fmt.Errorf("remove the datapath of chain %s: %w", owner, err)
	}
	return nil
}
