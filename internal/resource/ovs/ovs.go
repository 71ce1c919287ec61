// Package ovs makes Open vSwitch switches that are a chain's own: a private pair of
// daemons in a namespace of the chain's, with sockets, database and logs in the
// chain's directory; switches with their ports and flows; and the ports' ends in the
// nodes' namespaces. Nothing of an Open vSwitch of the host's is read or changed: its
// daemons listen elsewhere, and datapaths and devices are those of the namespace.
//
// The daemons are found by their namespace and a mark in their environment, so that
// they are ended without a state file. They are not started again by themselves: a
// switch whose daemon died has lost its flows, and on the datapath in user space its
// ports too, so that what was measured meanwhile is worthless. The next up makes all of
// it again.
package ovs

import (
	"path/filepath"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// The kinds in a plan.
const (
	KindName       = "ovs"        // the daemons
	SwitchKindName = "ovs_switch" // a switch with its ports and flows
	PortKindName   = "ovs_port"   // a port's end in a node's namespace
)

// The datapaths.
const (
	System = "system" // in the kernel
	Netdev = "netdev" // in user space, within ovs-vswitchd
)

// Dir is where the owner's daemons keep their files.
func Dir(owner string) string { return filepath.Join(rundir.Root, owner, "ovs") }

func in(owner, file string) string { return filepath.Join(Dir(owner), file) }

func database(owner string) string { return in(owner, "conf.db") }

func socket(owner string) string { return "unix:" + in(owner, "db.sock") }

// management is the socket by which a switch speaks OpenFlow.
func management(owner, name string) string { return "unix:" + in(owner, name+managementSuffix) }

// managementSuffix is what the daemon puts behind a switch's name.
const managementSuffix = ".mgmt"
