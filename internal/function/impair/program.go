package impair

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/impair"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/redirect"
	tundevice "nfchain.dev/nfchain/internal/resource/tun"
)

// queueLength is how many packets wait for the program while it does not get the
// processor: 40 ms of 200,000 a second.
const queueLength = 8192

// readyWithin is how long the program may take to begin, in seconds.
const readyWithin = 10

// way is a direction with the interface that its packets come in by.
type way struct {
	impair.Way
	in string
}

// ways of a site that the function acts on.
func ways(site function.Site) []way {
	forward := way{impair.Forward, site.West}
	reverse := way{impair.Reverse, site.East}
	switch site.Direction {
	case api.Forward:
		return []way{forward}
	case api.Reverse:
		return []way{reverse}
	}
	return []way{forward, reverse}
}

// program has the kernel hand packets to the program and take them back: what comes
// in by an interface goes to the direction's device instead, and what the program
// writes to that comes in by it, to be forwarded as if nothing had happened.
func (o *Options) program(site function.Site) []resource.Resource {
	var devices, redirections []resource.Resource
	for _, w := range ways(site) {
		device := resource.New(site.Namespace, tundevice.Spec{
			Owner: site.Owner, Node: site.Node, Device: w.Device, QueueLength: queueLength,
		}, site.Needs...)
		devices = append(devices, device)
		if w.in != "" { // a function that stands alone gets interfaces with its chain
			needs := append(append([]string{}, site.Needs...), device.ID)
			redirections = append(redirections, resource.New(site.Namespace, redirect.Spec{Device: w.in, To: w.Device}, needs...))
		}
	}
	needs := append([]string{}, site.Needs...)
	for _, d := range devices {
		needs = append(needs, d.ID)
	}
	return append(append(devices, redirections...), resource.New("", o.process(site), needs...))
}

func (o *Options) process(site function.Site) process.Spec {
	args := []string{"nfchain", impair.Command, site.Owner, site.Node, o.config(site).Encode()}
	spec := process.Spec{
		Node: site.Node, Netns: site.Namespace, Own: true, Args: args, Env: []string{}, Restart: "always",
		Ready: process.Ready{Command: append(append([]string{}, args...), "--ready"), TimeoutS: readyWithin},
	}
	if site.Resources != nil {
		spec.CPUs, spec.MemoryBytes = site.Resources.CPUs, uint64(site.Resources.Memory)
	}
	return spec
}

func (o *Options) config(site function.Site) impair.Config {
	c := impair.Config{
		Loss: impair.Pick(o.Loss), Duplicate: impair.Pick(o.Duplicate), Reorder: impair.Pick(o.Reorder.Pick),
		DelayNS: int64(o.Delay), JitterNS: int64(o.Jitter), Limit: o.Limit, Seed: o.Seed,
	}
	if c.Reorder != (impair.Pick{}) {
		c.By = o.Reorder.By
	}
	for _, w := range ways(site) {
		c.Ways = append(c.Ways, w.Way)
	}
	return c
}
