package container

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/resource"
)

// NetworkKindName of engines' networks in a plan.
const NetworkKindName = "network"

// Network of an engine, on which containers are from when they start.
type Network struct {
	// Engine that has it.
	Engine string `json:"engine"`
	// Name of it. One that is made for a chain has a digest of the rest at its end, so that another has another name.
	Name string `json:"name"`
	// Driver that makes it; "" where it is there, and nobody makes it.
	Driver  string            `json:"driver"`
	Subnets []string          `json:"subnets,omitempty"`
	Options map[string]string `json:"options,omitempty"`
}

// Called names a network that is made for an owner.
func (n Network) Called(owner string) Network {
	n.Name = ""
	text, err := json.Marshal(n)
	if err != nil {
		panic(err) // a Network is plain data
	}
	sum := sha256.Sum256(text)
	n.Name = "nfchain." + owner + "." + hex.EncodeToString(sum[:4])
	return n
}

// Made tells that it is made for a chain.
func (n Network) Made() bool { return n.Driver != "" }

// Kind implements resource.Spec.
func (Network) Kind() string { return NetworkKindName }

// Key is its name.
func (n Network) Key() string { return n.Name }

// Fingerprint is its name too, which says all of it.
func (n Network) Fingerprint() string { return n.Driver + " " + n.Name }

// Commands implements resource.Spec: the script has nfchain make it.
func (Network) Commands(string) []resource.Command { return nil }

// In tells whether it is one of these, by their names.
func (n Network) In(names []string) bool { return slices.Contains(names, n.Name) }

// There tells whether the owner has it.
func (n Network) There(ctx context.Context, owner string) (there bool, err error) {
	err = n.asked(ctx, func(e engine.Networking) error {
		all, err := e.Networks(ctx, owner)
		there = slices.ContainsFunc(all, func(other engine.Network) bool { return other.Name == n.Name })
		return err
	})
	return there, err
}

// Drives it, whoever's it is: a driver of the engine.
func (n Network) Drives(ctx context.Context) (driver string, err error) {
	err = n.asked(ctx, func(e engine.Networking) error {
		driver, err = e.NetworkDriver(ctx, n.Name)
		return err
	})
	return driver, err
}

// Make it.
func (n Network) Make(ctx context.Context, owner string) error {
	return n.asked(ctx, func(e engine.Networking) error {
		return e.MakeNetwork(ctx, n.of(owner))
	})
}

// Vacant is an error where somebody else has a port at which one of an owner's containers is to be published, before it is made.
func Vacant(ctx context.Context, owner string, containers, networks []resource.Spec) error {
	for _, s := range containers {
		c := s.(Spec)
		if c.Publish == "" {
			continue
		}
		n := Network{Engine: c.Engine, Name: c.Network}
		for _, made := range networks {
			if other := made.(Network); other.Engine == n.Engine && other.Name == n.Name {
				n = other
			}
		}
		p := engine.Publication{Owner: owner, Network: n.of(owner), Ports: c.Publish}
		if err := n.asked(ctx, func(e engine.Networking) error { return e.Vacant(ctx, p) }); err != nil {
			return fmt.Errorf("%s: %w", c.Node, err)
		}
	}
	return nil
}

// of an owner, as its engine has it.
func (n Network) of(owner string) engine.Network {
	return engine.Network{Owner: owner, Name: n.Name, Driver: n.Driver, Subnets: n.Subnets, Options: n.Options}
}

// asked the engine, which has networks.
func (n Network) asked(ctx context.Context, ask func(engine.Networking) error) error {
	ctx, stop := engine.AtMost(ctx, within)
	defer stop()
	e, err := engine.Open(ctx, n.Engine)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	has, is := e.(engine.Networking)
	if !is {
		return fmt.Errorf("%s gives containers no networks", n.Engine)
	}
	return ask(has)
}

// FindNetworks that an owner has, of every engine that answers.
func FindNetworks(ctx context.Context, owner string) (found []Network, err error) {
	for _, name := range engine.Names() {
		all, err := NetworksOf(ctx, name, owner)
		if errors.Is(err, engine.ErrNotThere) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, all...)
	}
	return found, nil
}

// NetworksOf an engine that an owner has; none of an engine that has no networks.
func NetworksOf(ctx context.Context, name, owner string) (found []Network, err error) {
	ctx, stop := engine.AtMost(ctx, within)
	defer stop()
	e, err := engine.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }()
	has, is := e.(engine.Networking)
	if !is {
		return nil, nil
	}
	all, err := has.Networks(ctx, owner)
	for _, n := range all {
		found = append(found, Network{Engine: name, Name: n.Name, Driver: n.Driver})
	}
	return found, err
}

// RemoveNetworks of an owner's from an engine, but for some by their names.
func RemoveNetworks(ctx context.Context, from, owner string, but []string) error {
	all, err := NetworksOf(ctx, from, owner)
	if err != nil {
		return err
	}
	for _, n := range all {
		if n.In(but) {
			continue
		}
		if err := n.asked(ctx, func(e engine.Networking) error { return e.RemoveNetwork(ctx, n.Name) }); err != nil {
			return err
		}
	}
	return nil
}

// NetworkKind makes networks of engines.
type NetworkKind struct{}

// Name implements resource.Kind.
func (NetworkKind) Name() string { return NetworkKindName }

// Read implements resource.Kind.
func (NetworkKind) Read(p resource.Place) ([]resource.Observed, error) {
	all, err := FindNetworks(context.Background(), p.Owner)
	var found []resource.Observed
	for _, n := range all {
		found = append(found, resource.Observed{Key: n.Key(), Fingerprint: n.Fingerprint()})
	}
	return found, err
}

// Apply implements resource.Kind.
func (NetworkKind) Apply(p resource.Place, changes []resource.Change) error {
	remove := func(name string) error {
		all, err := FindNetworks(context.Background(), p.Owner)
		for _, n := range all {
			if n.Name == name {
				err = errors.Join(err, n.asked(context.Background(), func(e engine.Networking) error { return e.RemoveNetwork(context.Background(), name) }))
			}
		}
		return err
	}
	return resource.Make(changes, remove, func(n Network) error { return n.Make(context.Background(), p.Owner) })
}

// Possible implements resource.Wary: networks that containers begin with, and nobody makes, are there.
func (Kind) Possible(specs []resource.Spec) error {
	var asked []Network
	for _, s := range specs {
		c := s.(Spec)
		n := Network{Engine: c.Engine, Name: c.Network}
		if n.Name == "" || c.Hosted() || engine.Makes(n.Name) || slices.ContainsFunc(asked, func(other Network) bool { return other.Engine == n.Engine && other.Name == n.Name }) {
			continue
		}
		asked = append(asked, n)
		if _, err := n.Drives(context.Background()); err != nil {
			return err
		}
	}
	return nil
}
