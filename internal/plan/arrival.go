package plan

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Arrivals are the interfaces at which the kernel tells of what comes in by a node's
// interface, where it is not at that itself: a forwarder hands packets on to the node from
// the port where they came in. Beside replicas there are several such ports. What comes in
// where packets are shared out over replicas is none's: the kernel tells of it before one is
// chosen.
func (p *Plan) Arrivals() map[resource.Interface][]resource.Interface {
	behind := map[resource.Interface]resource.Interface{} // a port
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[resource.Interface{Namespace: s.B.Namespace, Device: s.B.Device}] = resource.Interface{Namespace: s.A.Namespace, Device: s.A.Device}
		}
	}
	at := map[resource.Interface][]resource.Interface{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Among == nil {
			node := behind[resource.Interface{Namespace: r.Namespace, Device: s.To}]
			at[node] = append(at[node], resource.Interface{Namespace: r.Namespace, Device: s.Device})
		}
	}
	return at
}
