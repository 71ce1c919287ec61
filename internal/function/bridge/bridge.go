// Package bridge is the bump in the wire: its two interfaces are ports of a Linux bridge
// in its namespace, and it has no address and is no hop. The nodes on both sides of it
// are each other's neighbours.
package bridge

import (
	_ "embed"
	"errors"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/resource/link"
)

// Options of a bridge.
type Options struct {
	// Learning has the bridge find out who is at which side, and flood what is for
	// nobody it knows. Default: it is told. There is no spanning tree and no multicast
	// snooping.
	Learning bool `json:"learning,omitempty"`
}

//go:embed bridge.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Kind is the bridge function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "bridge" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "passes packets on without being a hop (bump in the wire)"}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.Bridge} }

// IsTransparent implements function.Transparent.
func (Kind) IsTransparent(any) bool { return true }

// device is the bridge, and ageing how long it remembers what it learns, in seconds:
// IEEE 802.1D-1998's default.
const (
	device = "br0"
	ageing = 300
)

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	if site.West == "" || site.East == "" {
		return nil, errors.New("a bridge is between its chain's nodes, so it cannot stand alone")
	}
	if site.Direction != api.Both && site.Direction != "" {
		return nil, errors.New("a bridge passes on what comes from either side; leave direction out")
	}
	o := options.(*Options)
	br := resource.New(site.Namespace, bridge.Spec{
		Owner: site.Owner, Device: device, Joins: site.Node, MAC: link.MAC(site.Owner, site.Node, device), MTU: site.MTU, AgeingS: ageing,
	}, site.Needs...)
	made := []resource.Resource{br}
	for _, port := range [][2]string{{site.West, site.WestMAC}, {site.East, site.EastMAC}} {
		spec := bridge.PortSpec{Bridge: device, Device: port[0], MAC: port[1], Learns: o.Learning, Floods: o.Learning}
		made = append(made, resource.New(site.Namespace, spec, append([]string{br.ID}, site.Needs...)...))
	}
	return made, nil
}
