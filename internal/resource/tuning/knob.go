package tuning

import (
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/ethtool"
	"nfchain.dev/nfchain/internal/resource"
)

// knob is one thing that can be set.
type knob struct {
	// name is that of the field in a chain's file.
	name string
	// code is the knob's name in a mark, where there is room for little.
	code  string
	read  func(*port) (string, error)
	write func(*port, string) error
	// command does the same; nil where no command of those that scripts use can.
	command func(ns, device, value string) resource.Command
	// hint says what a person can do where the kernel does not.
	hint string
}

// knobs in the order in which they are set: queues before what serves them, and
// offloads before those that rest on them.
var knobs = slices.Concat(queues, offloads, sizes, serving, tcp, segment)

// Knobs are the names of all that can be set, in the order in which they are.
func Knobs() []string {
	var names []string
	for _, k := range knobs {
		names = append(names, k.name)
	}
	return names
}

func knobOf(name string) (knob, error) {
	for _, k := range knobs {
		if k.name == name {
			return k, nil
		}
	}
	return knob{}, fmt.Errorf("there is no knob %q", name)
}

// port is an interface that is being set, with the ways to it, which are opened when they
// are needed.
type port struct {
	resource.Place
	link    netlink.Link
	drivers *ethtool.Socket
	sys     *netns.Sysfs
}

func (at *port) device() string { return at.link.Attrs().Name }

func (at *port) driver() (s *ethtool.Socket, err error) {
	if at.drivers == nil {
		at.drivers, err = ethtool.Open(at.Ref)
	}
	return at.drivers, err
}

func (at *port) sysfs() (s *netns.Sysfs, err error) {
	if at.sys == nil {
		at.sys, err = netns.OpenSysfs(at.Ref)
	}
	return at.sys, err
}

func (at *port) close() {
	if at.drivers != nil {
		at.drivers.Close()
	}
	if at.sys != nil {
		at.sys.Close()
	}
}
