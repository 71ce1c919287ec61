package run

import (
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/link"
)

// NamePorts gives what tells people of ports between a chain's nodes whose they are, in a text that has their names: as planned,
// and of those too that are there and are no longer.
func NamePorts(p *plan.Plan) func(text string) string {
	ends := map[string]link.End{}
	if p.Between() == "" {
		return func(text string) string { return text }
	}
	if netns.Exists(p.Between()) {
		if h, err := netns.Open(p.Between()); err == nil {
			defer h.Close()
			if there, err := link.Behind(h, p.Chain); err == nil {
				ends = there
			}
		}
	}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && s.B.Namespace == p.Between() {
			ends[s.B.Device] = s.A
		}
	}
	var named []string
	for port, end := range ends {
		named = append(named, port, port+" ("+end.Node+" "+end.Device+")")
	}
	return strings.NewReplacer(named...).Replace
}
