package tuning

import (
	"slices"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/resource"
)

// Served tells of interfaces, by their index, what neither a list of them nor their
// offloads say: queues in use, who serves them, and the segment size that is announced, by
// the names of the knobs. What cannot be read, or is none, is absent.
func Served(p resource.Place, links []netlink.Link) map[int]map[string]string {
	at := &port{Place: p}
	defer at.close()
	told := map[int]map[string]string{}
	for _, l := range links {
		at.link = l
		values := map[string]string{}
		for _, k := range slices.Concat(queues, serving, segment) {
			if k.name == NAPICPUs && values["threaded_napi"] != on {
				continue // there are no threads
			}
			if v, err := k.read(at); err == nil && v != None {
				values[k.name] = v
			}
		}
		told[l.Attrs().Index] = values
	}
	return told
}
