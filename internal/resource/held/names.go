package held

import (
	"sync"

	"github.com/cilium/ebpf"
)

// mostNames are known at once, as many as several hundred programs have maps.
const mostNames = 1 << 13

// names of maps, by their numbers: neither ever changes. A port's program is opened several times in each update, and to ask
// is a third of what it takes.
type names struct {
	sync.Mutex
	of map[ebpf.MapID]string
}

var mapNames = names{of: map[ebpf.MapID]string{}}

// name of a map, which is asked for unless it is known.
func (n *names) name(id ebpf.MapID, ask func() (string, error)) (string, error) {
	n.Lock()
	defer n.Unlock()
	if name, is := n.of[id]; is {
		return name, nil
	}
	name, err := ask()
	if err != nil {
		return "", err
	}
	if len(n.of) == mostNames {
		clear(n.of)
	}
	n.of[id] = name
	return name, nil
}
