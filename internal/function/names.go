package function

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// Names is what a program at the site knows, as its /etc/hosts: the program is another one by none of it.
func (s Site) Names() resource.Resource {
	names := container.Names{Node: s.Node, Hosts: []string{}}
	for _, h := range s.Hosts {
		names.Hosts = append(names.Hosts, h.Address.String()+" "+h.Name)
	}
	return resource.New("", names)
}
