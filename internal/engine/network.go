package engine

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// ownNetwork begins the name of every network that is made for an owner.
const ownNetwork = "nfchain."

// Makes tells whether a network of that name is one that is made for an owner.
func Makes(network string) bool { return strings.HasPrefix(network, ownNetwork) }

// Network of an engine's (CNM: what its drivers make).
type Network struct {
	Owner, Name, Driver string
	// Subnets of its addresses; none is the engine's choice.
	Subnets []string
	// Options of the driver.
	Options map[string]string
}

// Networking is an engine that has networks for its containers.
type Networking interface {
	Engine
	// Networks of an owner.
	Networks(ctx context.Context, owner string) ([]Network, error)
	// NetworkDriver is what makes the network of a name, whoever's it is.
	NetworkDriver(ctx context.Context, name string) (string, error)
	// MakeNetwork for its owner.
	MakeNetwork(ctx context.Context, n Network) error
	// RemoveNetwork by its name. Already gone is success.
	RemoveNetwork(ctx context.Context, name string) error
}

// madeOn tells whether a container was made on a network, or on none: that is told where it is off it by now. Podman tells no network's
// name for how it was made.
func madeOn(c container.InspectResponse, labels map[string]string) bool {
	name := labels[labelNetwork]
	return onNetwork(c, labels) || name != "" && c.HostConfig != nil && string(c.HostConfig.NetworkMode) == name
}

// besideMode stands before the container whose network another has.
const besideMode = "container:"

// onNetwork tells whether a container is on the network that it was made with, as its labels say, and on none where it was made with none.
func onNetwork(c container.InspectResponse, labels map[string]string) bool {
	name := labels[labelNetwork]
	if labels[labelBeside] != "" {
		return c.HostConfig != nil && c.HostConfig.NetworkMode.IsContainer()
	}
	if name == "" {
		return c.HostConfig != nil && c.HostConfig.NetworkMode.IsNone()
	}
	if c.NetworkSettings == nil {
		return false
	}
	_, on := c.NetworkSettings.Networks[name]
	return on
}

func (d docker) Networks(ctx context.Context, owner string) ([]Network, error) {
	filters := client.Filters{}.Add("label", labelOwner+"="+owner, labelMachine+"="+machine())
	all, err := d.NetworkList(ctx, client.NetworkListOptions{Filters: filters})
	if err != nil {
		return nil, fmt.Errorf("list the networks of %s: %w", d.title, err)
	}
	var found []Network
	for _, n := range all.Items {
		if Makes(n.Name) {
			found = append(found, Network{Owner: owner, Name: n.Name, Driver: n.Driver})
		}
	}
	return found, nil
}

func (d docker) NetworkDriver(ctx context.Context, name string) (string, error) {
	r, err := d.NetworkInspect(ctx, name, client.NetworkInspectOptions{})
	if errdefs.IsNotFound(err) {
		return "", fmt.Errorf("%s has no network called %s; `%s network ls` shows those it has", d.title, name, d.name)
	}
	if err != nil {
		return "", fmt.Errorf("look at network %s of %s: %w", name, d.title, err)
	}
	if is := r.Network.Name; is != name { // a container tells its networks by their names alone
		return "", fmt.Errorf("%s is the ID of a network of %s; write its name, %s", name, d.title, is)
	}
	return r.Network.Driver, nil
}

func (d docker) MakeNetwork(ctx context.Context, n Network) error {
	_, err := d.NetworkInspect(ctx, n.Name, client.NetworkInspectOptions{})
	if err == nil { // some versions would make another of this name
		return fmt.Errorf("a network called %s is there already, and is not nfchain's; remove it (%s network rm %s)", n.Name, d.name, n.Name)
	}
	o := client.NetworkCreateOptions{Driver: n.Driver, Options: n.Options, Labels: map[string]string{labelOwner: n.Owner, labelMachine: machine()}}
	for _, text := range n.Subnets {
		subnet, err := netip.ParsePrefix(text)
		if err != nil {
			return err
		}
		if o.IPAM == nil {
			o.IPAM = &network.IPAM{}
		}
		o.IPAM.Config = append(o.IPAM.Config, network.IPAMConfig{Subnet: subnet})
		if subnet.Addr().Is6() {
			six := true
			o.EnableIPv6 = &six
		}
	}
	if _, err := d.NetworkCreate(ctx, n.Name, o); err != nil {
		return fmt.Errorf("make a network of driver %s: %w", n.Driver, err)
	}
	return nil
}

func (d docker) RemoveNetwork(ctx context.Context, name string) error {
	_, err := d.NetworkRemove(ctx, name, client.NetworkRemoveOptions{})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove network %s: %w", name, err)
	}
	return nil
}
