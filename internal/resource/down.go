package resource

import "github.com/vishvananda/netlink"

// Down tells whether an interface carries nothing, as far as the kernel has noticed: it is down itself, or what is at its other end.
func Down(l netlink.Link) bool {
	state := l.Attrs().OperState
	return state == netlink.OperDown || state == netlink.OperLowerLayerDown
}
