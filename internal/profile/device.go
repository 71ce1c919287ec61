package profile

import (
	"fmt"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// device is an interface as the kernel tells of it: the inode of its namespace, and its
// index there.
type device struct{ space, index uint32 }

// locate the interfaces by which packets of nodes come in elsewhere.
func (s *Sampler) locate(arrivals map[resource.Interface]string) error {
	indexes := map[string]map[string]uint32{} // by namespace and name
	for at, node := range arrivals {
		var st unix.Stat_t
		if err := unix.Stat(netns.Path(at.Namespace), &st); err != nil {
			return fmt.Errorf("look at the namespace of %s, where packets of %s come in: %w", at.Device, node, err)
		}
		if indexes[at.Namespace] == nil {
			var err error
			if indexes[at.Namespace], err = indexesOf(at.Namespace); err != nil {
				return err
			}
		}
		index, has := indexes[at.Namespace][at.Device]
		if !has {
			return fmt.Errorf("namespace %q has no interface %s, where packets of %s come in; `nfchain up` mends the chain", at.Namespace, at.Device, node)
		}
		s.arrivals[device{uint32(st.Ino), index}] = node
	}
	return nil
}

func indexesOf(namespace string) (map[string]uint32, error) {
	h, err := netns.Open(namespace)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	links, err := h.LinkList()
	if err != nil {
		return nil, err
	}
	all := map[string]uint32{}
	for _, l := range links {
		all[l.Attrs().Name] = uint32(l.Attrs().Index)
	}
	return all, nil
}
