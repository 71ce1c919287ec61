package feature

import (
	"context"

	"github.com/vishvananda/netlink"
)

var ovsPart = part{"Open vSwitch datapath", "openvswitch", "CONFIG_OPENVSWITCH"}

// askOVSKernel looks for the datapath's family of generic netlink; asking for it loads
// the module.
func askOVSKernel(ctx context.Context, env Env) answer {
	return ovsPart.try(ctx, env, func() error {
		_, err := netlink.GenlFamilyGet("ovs_datapath")
		return err
	})
}
