package steer

import "github.com/cilium/ebpf"

// common are tables that all ports of a chain have together, by their names, as they were found or made for the first of several ports that
// are changed: to look for them at all ports takes dozens of calls for each of these, which for each port would be as many as its square.
type common struct{ found map[string]*ebpf.Map }

// table like this one, which is found or made if none is known. The caller does not close it.
func (c *common) table(like *ebpf.MapSpec, find func() (*ebpf.Map, error)) (*ebpf.Map, error) {
	if known := c.found[like.Name]; known != nil && like.Compatible(known) == nil {
		return known, nil
	}
	m, err := find()
	if err != nil {
		return nil, err
	}
	if known := c.found[like.Name]; known != nil {
		_ = known.Close()
	}
	if c.found == nil {
		c.found = map[string]*ebpf.Map{}
	}
	c.found[like.Name] = m
	return m, nil
}

func (c *common) close() {
	for _, m := range c.found {
		_ = m.Close()
	}
}
