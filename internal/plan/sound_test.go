package plan_test

import (
	"net/netip"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/neighbour"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// sound checks what holds of every plan.
func sound(t testing.TB, p *plan.Plan) {
	t.Helper()
	stage, kind := map[string]int{}, map[string]string{}
	for _, r := range p.Resources {
		if _, twice := stage[r.ID]; twice {
			t.Errorf("%s is in the plan twice", r.ID)
		}
		stage[r.ID], kind[r.ID] = deploy.Stage(r.Kind), r.Kind
		if stage[r.ID] < 0 || r.Host == "" || r.PathVersion == 0 || r.Needs == nil {
			t.Errorf("%s is incomplete: %+v", r.ID, r)
		}
	}
	for _, r := range p.Resources {
		for _, need := range r.Needs {
			// Within a stage, addresses are made first.
			earlier := stage[need] < stage[r.ID] || kind[need] == address.KindName && r.Kind == route.KindName
			if kind[need] == "" || !earlier {
				t.Errorf("%s needs %q, which is not made before it", r.ID, need)
			}
		}
	}
	unique(t, p)
	w := newWorld(p)
	for _, way := range [][2]plan.Node{{p.Client(), p.Server()}, {p.Server(), p.Client()}} {
		for _, h := range p.Hosts(way[0].Name) {
			if h.Name == way[1].Name {
				w.crosses(t, p, way[0], h.Address)
			}
		}
		spare := p.Spare(way[0].Name == p.Server().Name, 3)
		if len(spare) < len(p.Blocks) || len(spare) > 3*len(p.Blocks) {
			t.Errorf("%d addresses are spare, %v", len(spare), spare)
		}
		for _, a := range spare {
			w.crosses(t, p, way[0], a)
		}
	}
}

// unique addresses and link-layer addresses, within the plan's blocks.
func unique(t testing.TB, p *plan.Plan) {
	t.Helper()
	addresses, macs := map[netip.Addr]bool{}, map[string]bool{}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case address.Spec:
			if addresses[s.Address] {
				t.Errorf("%s is given twice", s.Address)
			}
			addresses[s.Address] = true
			if !slices.ContainsFunc(p.Blocks, func(b netip.Prefix) bool { return b.Contains(s.Address) && (!s.Peer.IsValid() || b.Contains(s.Peer)) }) {
				t.Errorf("%s is in none of %v", s.Address, p.Blocks)
			}
		case link.Spec:
			for _, end := range []link.End{s.A, s.B} {
				if macs[end.MAC] {
					t.Errorf("%s is given twice", end.MAC)
				}
				macs[end.MAC] = true
				if len(end.Device) > 15 {
					t.Errorf("%s is too long for an interface", end.Device)
				}
			}
		}
	}
}

// world is what the kernel would know once the plan is real.
type world struct {
	addresses map[string]map[netip.Addr]bool // by namespace
	routes    map[string][]route.Spec
	onLink    map[string]map[netip.Addr]string // peers by namespace, with the device
	macs      map[string]map[string]string     // neighbours' by namespace and device=address
	far       map[[2]string]link.End           // the other end of a namespace's device
	ports     map[[2]string]bridge.PortSpec    // bridges' ports by namespace and device
	over      map[[2]string]macvlan.Spec       // devices over others by namespace and device
	steered   map[[2]string]string             // ports of a forwarder, and to which
	restores  map[string]bool
}

func newWorld(p *plan.Plan) world {
	w := world{map[string]map[netip.Addr]bool{}, map[string][]route.Spec{}, map[string]map[netip.Addr]string{},
		map[string]map[string]string{}, map[[2]string]link.End{}, map[[2]string]bridge.PortSpec{}, map[[2]string]macvlan.Spec{}, map[[2]string]string{}, map[string]bool{}}
	for _, n := range p.Nodes {
		w.addresses[n.Namespace], w.onLink[n.Namespace], w.macs[n.Namespace] = map[netip.Addr]bool{}, map[netip.Addr]string{}, map[string]string{}
	}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case address.Spec:
			w.addresses[r.Namespace][s.Address] = true
			if s.Peer.IsValid() {
				w.onLink[r.Namespace][s.Peer] = s.Device
			}
		case route.Spec:
			w.routes[r.Namespace] = append(w.routes[r.Namespace], s)
		case neighbour.Spec:
			w.macs[r.Namespace][s.Key()] = s.MAC
		case link.Spec:
			w.far[[2]string{s.A.Namespace, s.A.Device}], w.far[[2]string{s.B.Namespace, s.B.Device}] = s.B, s.A
		case bridge.PortSpec:
			w.ports[[2]string{r.Namespace, s.Device}] = s
		case steer.Spec:
			w.steered[[2]string{r.Namespace, s.Device}] = s.To
		case macvlan.Spec:
			w.over[[2]string{r.Namespace, s.Device}] = s
		case ruleset.Spec:
			for _, rule := range s.Rules {
				w.restores[r.Namespace] = w.restores[r.Namespace] || rule.HopLimit != 0
			}
		}
	}
	return w
}

// crosses sends a packet and checks that it visits every function on the way, and gets to
// who has the address; to the far end if nobody has.
func (w world) crosses(t testing.TB, p *plan.Plan, from plan.Node, to netip.Addr) {
	t.Helper()
	ns, visited, far, had := from.Namespace, []string{}, p.Server().Namespace, false
	if from.Name == p.Server().Name {
		far = p.Client().Namespace
	}
	for _, addresses := range w.addresses {
		had = had || addresses[to]
	}
	for hops := 64; ; hops-- {
		visited = append(visited, ns)
		if w.addresses[ns][to] || !had && ns == far {
			break
		}
		if w.restores[ns] {
			hops = 64
		}
		if len(visited) > 1 && hops <= 1 {
			t.Fatalf("from %s a packet to %s dies after %d hops", from.Name, to, len(visited))
		}
		via, device, ok := w.next(ns, to)
		peer := w.sends([2]string{ns, device}, w.macs[ns][neighbour.Spec{Device: device, Address: via}.Key()])
		mac := w.macs[ns][neighbour.Spec{Device: device, Address: via}.Key()]
		if !ok || mac == "" || len(w.steered) == 0 && mac != peer.MAC {
			t.Fatalf("%s has no way to %s: via %s on %q", ns, to, via, device)
		}
		ns = peer.Namespace
	}
	var want []string
	for _, n := range p.Nodes {
		if from.Name == p.Client().Name || !n.OneWay {
			want = append(want, n.Namespace)
		}
	}
	if from.Name != p.Client().Name {
		slices.Reverse(want)
	}
	if !slices.Equal(visited, want) {
		t.Errorf("from %s to %s by way of %v", from.Name, to, visited)
	}
}

// sends a frame by a device, and gives where it comes to.
func (w world) sends(by [2]string, to string) link.End {
	if d, is := w.over[by]; is {
		by = [2]string{d.Parent.Namespace, d.Parent.Device}
		if at := w.above(by, to); d.Mode == macvlan.Bridge && at.Device != "" {
			return at
		}
	}
	at := w.passes(w.far[by], to)
	if d := w.above([2]string{at.Namespace, at.Device}, to); d.Device != "" {
		return d
	}
	return at
}

// above a device is another that takes what is for it.
func (w world) above(parent [2]string, mac string) link.End {
	for key, d := range w.over {
		if parent == [2]string{d.Parent.Namespace, d.Parent.Device} && d.MAC == mac {
			return link.End{Node: d.Node, Namespace: key[0], Device: key[1], MAC: mac}
		}
	}
	return link.End{}
}

// passes a frame on by the bridge or forwarder of the port that it came to, if it came to one.
func (w world) passes(at link.End, to string) link.End {
	if next, is := w.steered[[2]string{at.Namespace, at.Device}]; is {
		return w.far[[2]string{at.Namespace, next}]
	}
	in, isPort := w.ports[[2]string{at.Namespace, at.Device}]
	if !isPort {
		return at
	}
	for key, out := range w.ports {
		if key[0] == at.Namespace && out.Bridge == in.Bridge && slices.Contains(append(out.Also, out.MAC), to) && (out.Device != in.Device || in.Hairpin) {
			return w.far[key]
		}
	}
	return link.End{}
}

// next hop: a peer itself, or by the longest prefix.
func (w world) next(ns string, to netip.Addr) (netip.Addr, string, bool) {
	if device, peer := w.onLink[ns][to]; peer {
		return to, device, true
	}
	best := route.Spec{}
	for _, r := range w.routes[ns] {
		if r.Destination.Contains(to) && (best.Device == "" || r.Destination.Bits() > best.Destination.Bits()) {
			best = r
		}
	}
	return best.Via, best.Device, best.Device != ""
}
