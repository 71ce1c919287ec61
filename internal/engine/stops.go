package engine

import (
	"github.com/containerd/containerd/v2/client"
	"github.com/moby/sys/signal"
)

// labelStops is the label of a container in which containerd's own tools have what its image says of that, too.
const labelStops = client.StopSignalLabel

// stops is what an image says by which its program is asked to end: a signal's name or number. What is none is as good as nothing said.
func (c *Container) stops(by string) {
	if s, err := signal.ParseSignal(by); err == nil && s > 0 && s <= lastSignal {
		c.StopSignal = s
	}
}

// lastSignal is SIGRTMAX (signal(7)).
const lastSignal = 64
