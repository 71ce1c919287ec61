package engine

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// ownNetwork begins the name of every network that is made for an owner.
const ownNetwork = "nfchain."

// HostNetwork is the name that engines have for the machine's own network, in which a container has no interface of its own.
const HostNetwork = "host"

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
	// Vacant is an error that says who has a port at which a container of an owner's is to be published, before that is made.
	Vacant(ctx context.Context, p Publication) error
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
	if name == HostNetwork {
		return c.HostConfig != nil && c.HostConfig.NetworkMode.IsHost()
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

// published are the ports of a container that has some, and what they are bound to: the address that the machine has on the container's
// network, and no other, so that nobody elsewhere reaches them but a neighbour that sends what is for that address by way of this machine.
func (d docker) published(ctx context.Context, w Wanted) (exposed network.PortSet, bound network.PortMap, err error) {
	at, err := d.gateway(ctx, w.Network)
	if err != nil {
		return nil, nil, err
	}
	ranges, err := w.Publish.Parse()
	if err != nil {
		return nil, nil, err
	}
	exposed, bound = network.PortSet{}, network.PortMap{}
	for _, r := range ranges {
		for port := int(r.First); port <= int(r.Last); port++ {
			for _, protocol := range []network.IPProtocol{network.TCP, network.UDP} {
				p, _ := network.PortFrom(uint16(port), protocol)
				exposed[p], bound[p] = struct{}{}, []network.PortBinding{{HostIP: at, HostPort: strconv.Itoa(port)}}
			}
		}
	}
	return exposed, bound, nil
}

// hostsWithin is the longest prefix of IPv4 with a first and a last address that are no host's.
const hostsWithin = 30

// gateway of a network is the address that the machine has on it, of IPv4.
func (d docker) gateway(ctx context.Context, name string) (netip.Addr, error) {
	r, err := d.NetworkInspect(ctx, name, client.NetworkInspectOptions{})
	if err != nil {
		return netip.Addr{}, fmt.Errorf("look at network %s of %s: %w", name, d.title, err)
	}
	for _, c := range r.Network.IPAM.Config {
		if c.Gateway.Is4() {
			return c.Gateway, nil
		}
		// Docker does not tell the gateway that it chose itself for a subnet that it was given: the first address, unless others are kept from it.
		if first := c.Subnet.Masked().Addr().Next(); !c.Gateway.IsValid() && c.Subnet.Addr().Is4() && c.Subnet.Bits() <= hostsWithin && !c.IPRange.IsValid() && len(c.AuxAddress) == 0 {
			return first, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("network %s of %s has no gateway of IPv4, at which ports could be published; leave publish out, or name another network", name, d.title)
}

func (d docker) RemoveNetwork(ctx context.Context, name string) error {
	_, err := d.NetworkRemove(ctx, name, client.NetworkRemoveOptions{})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove network %s: %w", name, err)
	}
	if d.name == Podman && Makes(name) && filepath.IsLocal(name) {
		if err := os.RemoveAll(filepath.Join(cniAddresses, name)); err != nil {
			return fmt.Errorf("remove what network %s gave: %w", name, err)
		}
	}
	return nil
}

// cniAddresses is where host-local, of the CNI plugins, notes by network which addresses it has given. Podman has that give its
// own, and leaves the directory of a network that it removes.
const cniAddresses = "/var/lib/cni/networks"
