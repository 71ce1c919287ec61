package ovs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	made "nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/wiring"
	"nfchain.dev/nfchain/internal/wiring/ovs"
)

// network of a chain of nodes a, b, c … with hops between neighbours.
func network(hops int, change func(*ovs.Options)) wiring.Network {
	o := ovs.Wiring{}.Options().(*ovs.Options)
	change(o)
	n := wiring.Network{Owner: "edge", MTU: 1500, Node: "_wiring", Namespace: "nfchain.edge._wiring", Options: o, Has: func(string) bool { return false }}
	port := func(node int, device string) wiring.Port {
		name := string(rune('a' + node))
		return wiring.Port{Node: name, Namespace: "nfchain.edge." + name, Device: ovs.Wiring{}.Called(o, n.Has, name, device), MAC: fmt.Sprintf("02:00:00:00:%02d:%s", node, device[3:]+"0")}
	}
	for i := range hops {
		n.Hops = append(n.Hops, wiring.Hop{A: port(i, "eth1"), B: port(i+1, "eth0"), Needs: []string{"namespace:" + string(rune('a'+i))}})
	}
	return n
}

func join(t *testing.T, n wiring.Network) wiring.Joined {
	t.Helper()
	j, err := ovs.Wiring{}.Join(n)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// follow a packet that a node sends by its device, through flows, pairs and patches; it
// gives where it comes out.
func follow(t *testing.T, j wiring.Joined, from wiring.Port) string {
	t.Helper()
	peers, ports, flows := fabric(j)
	at := peers[from.Node+":"+from.Device]
	for range 100 {
		in, onSwitch := ports[at]
		if !onSwitch {
			return at
		}
		out := flows[in.name][in.Number]
		for name, p := range ports {
			if p.name == in.name && p.Number == out {
				at = peers[name]
			}
		}
	}
	t.Fatal("it goes round and round")
	return ""
}

type onSwitch struct {
	made.Port
	name string
}

// fabric is what joins what: ends of pairs and patches to each other, ports to their
// switches, and for each switch where what comes in goes out.
func fabric(j wiring.Joined) (peers map[string]string, ports map[string]onSwitch, flows map[string]map[int]int) {
	peers, ports, flows = map[string]string{}, map[string]onSwitch{}, map[string]map[int]int{}
	end := func(e link.End) string {
		if e.Node == "_wiring" {
			return e.Device
		}
		return e.Node + ":" + e.Device
	}
	for _, r := range j.Resources {
		switch s := r.Spec.(type) {
		case link.Spec:
			peers[end(s.A)], peers[end(s.B)] = end(s.B), end(s.A)
		case made.PortSpec:
			if s.Port.Type == made.Internal {
				peers[s.Node+":"+s.Device], peers[s.Port.Name] = s.Port.Name, s.Node+":"+s.Device
			}
		case made.SwitchSpec:
			flows[s.Name] = map[int]int{}
			for _, p := range s.Ports {
				ports[p.Name] = onSwitch{p, s.Name}
				if p.Type == made.Patch {
					peers[p.Name] = p.Peer
				}
			}
			for _, f := range s.Flows {
				var in, out int
				if _, err := fmt.Sscanf(f, "in_port=%d actions=output:%d", &in, &out); err == nil {
					flows[s.Name][in] = out
				}
			}
		}
	}
	return peers, ports, flows
}

var shapes = map[string]func(*ovs.Options){
	"default":         func(*ovs.Options) {},
	"internal":        func(o *ovs.Options) { o.Ports = "internal" },
	"one":             func(o *ovs.Options) { o.Per = "chain" },
	"one, internal":   func(o *ovs.Options) { o.Per, o.Ports = "chain", "internal" },
	"twenty, patched": func(o *ovs.Options) { o.Switches = 20 },
	"three, paired":   func(o *ovs.Options) { o.Switches, o.SwitchToSwitch = 3, "veth" },
	"in the kernel":   func(o *ovs.Options) { o.Datapath = "system" },

	"internal, in the kernel": func(o *ovs.Options) { o.Datapath, o.Ports, o.Per = "system", "internal", "chain" },
}

// TestJoinsNeighbours: what one sends by its side of a hop comes to the other alone,
// whatever the switches between.
func TestJoinsNeighbours(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			n := network(5, shape)
			j := join(t, n)
			for _, h := range n.Hops {
				if to := follow(t, j, h.A); to != h.B.Node+":"+h.B.Device {
					t.Errorf("from %v it comes to %s", h.A, to)
				}
				if to := follow(t, j, h.B); to != h.A.Node+":"+h.A.Device {
					t.Errorf("from %v it comes to %s", h.B, to)
				}
			}
			needsAreThere(t, j)
		})
	}
}

func needsAreThere(t *testing.T, j wiring.Joined) {
	t.Helper()
	ids := map[string]bool{}
	for _, r := range j.Resources {
		if ids[r.ID] {
			t.Errorf("%s is there twice", r.ID)
		}
		ids[r.ID] = true
		for _, need := range r.Needs {
			if !ids[need] && !strings.HasPrefix(need, "namespace:") {
				t.Errorf("%s needs %s, which does not come before it", r.ID, need)
			}
		}
	}
	for _, e := range j.Ends {
		if !ids[e.A] || !ids[e.B] {
			t.Errorf("the ends %+v are not there", e)
		}
	}
}

func TestCountsOfSwitches(t *testing.T) {
	for name, want := range map[string]int{"default": 5, "one": 1, "twenty, patched": 100, "three, paired": 15} {
		j := join(t, network(5, shapes[name]))
		if got := len(of[made.SwitchSpec](j)); got != want {
			t.Errorf("%s: %d switches, want %d", name, got, want)
		}
	}
}

func of[S resource.Spec](j wiring.Joined) (specs []S) {
	for _, r := range j.Resources {
		if s, ok := r.Spec.(S); ok {
			specs = append(specs, s)
		}
	}
	return specs
}

// TestOneMoreLeavesTheRest: a hop more or less changes nothing of the others.
func TestOneMoreLeavesTheRest(t *testing.T) {
	for name, shape := range shapes {
		whole, without := network(6, shape), network(6, shape)
		without.Hops = slices.Delete(without.Hops, 2, 3)
		old := prints(join(t, whole))
		for id, text := range prints(join(t, without)) {
			if old[id] != text && !strings.Contains(text, "joins=all") {
				t.Errorf("%s: %s was %q and is %q", name, id, old[id], text)
			}
		}
		numbers := map[string]int{}
		for _, s := range of[made.SwitchSpec](join(t, whole)) {
			for _, p := range s.Ports {
				numbers[p.Name] = p.Number
			}
		}
		for _, s := range of[made.SwitchSpec](join(t, without)) {
			for _, p := range s.Ports {
				if numbers[p.Name] != p.Number {
					t.Errorf("%s: port %s was %d and is %d", name, p.Name, numbers[p.Name], p.Number)
				}
			}
		}
	}
}

func prints(j wiring.Joined) map[string]string {
	all := map[string]string{}
	for _, r := range j.Resources {
		all[r.ID] = r.Spec.Fingerprint()
	}
	return all
}

// TestDatapath: auto is what the machine has, and the settings say which.
func TestDatapath(t *testing.T) {
	for _, c := range []struct {
		asked, want string
		kernel      bool
		requires    string
	}{
		{"auto", "netdev", false, feature.Tun}, {"auto", "system", true, feature.OVSKernel},
		{"netdev", "netdev", true, feature.Tun}, {"system", "system", false, feature.OVSKernel},
	} {
		n := network(2, func(o *ovs.Options) { o.Datapath = c.asked })
		n.Has = func(name string) bool { return c.kernel && name == feature.OVSKernel }
		j := join(t, n)
		for _, s := range of[made.SwitchSpec](j) {
			if s.Datapath != c.want {
				t.Errorf("%+v: a switch has %s", c, s.Datapath)
			}
		}
		if j.Settings["datapath"] != c.want || !slices.Contains(j.Requires, c.requires) || !slices.Contains(j.Requires, feature.ToolOVS) {
			t.Errorf("%+v: settings %v, requires %v", c, j.Settings, j.Requires)
		}
		// In user space a veth's checksums must be computed.
		if ports := of[made.PortSpec](j); (len(ports) > 0) != (c.want == "netdev") {
			t.Errorf("%+v: %d ports", c, len(ports))
		}
	}
}

// TestInternalNames: in the kernel an internal port keeps the name that it is made with, which
// is unlike any other's; in user space it gets the node's.
func TestInternalNames(t *testing.T) {
	for _, kernel := range []bool{false, true} {
		o := ovs.Wiring{}.Options().(*ovs.Options)
		o.Ports = "internal"
		n := network(3, shapes["internal"])
		n.Has = func(string) bool { return kernel }
		for i := range n.Hops {
			n.Hops[i].A.Device = ovs.Wiring{}.Called(o, n.Has, n.Hops[i].A.Node, "eth1")
			n.Hops[i].B.Device = ovs.Wiring{}.Called(o, n.Has, n.Hops[i].B.Node, "eth0")
		}
		j, names := join(t, n), map[string]bool{}
		for _, p := range of[made.PortSpec](j) {
			if kept := p.Device == p.Port.Name; kept != kernel || len(p.Port.Name) > 15 || names[p.Port.Name] || !strings.HasPrefix(p.Device, "eth") {
				t.Errorf("in the kernel %t: %+v", kernel, p)
			}
			names[p.Port.Name] = true
		}
		if len(names) != 6 || (j.Settings["datapath"] == "system") != kernel {
			t.Errorf("in the kernel %t: ports %v, settings %v", kernel, names, j.Settings)
		}
	}
}

func TestLearning(t *testing.T) {
	for _, s := range of[made.SwitchSpec](join(t, network(2, func(o *ovs.Options) { o.Forwarding = "learning" }))) {
		if !slices.Equal(s.Flows, []string{"priority=0 actions=NORMAL"}) {
			t.Errorf("flows %v", s.Flows)
		}
	}
}

// TestRefused is what would lose packets, all of them or the long ones.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		ports, datapath string
		mtu             int
		refused         bool
	}{{"internal", "netdev", 1500, false}, {"internal", "netdev", 1501, true}, {"veth", "netdev", 9000, false}, {"internal", "system", 9000, false}, {"veth", "system", 9000, false}} {
		n := network(1, func(o *ovs.Options) { o.Ports, o.Datapath = c.ports, c.datapath })
		n.MTU = c.mtu
		if _, err := (ovs.Wiring{}).Join(n); (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "ports: veth") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestSuperPacketsOfInternalPorts are no longer than the kernel lets their drivers send.
func TestSuperPacketsOfInternalPorts(t *testing.T) {
	for _, c := range []struct {
		ports   string
		size    uint64
		refused bool
	}{{"internal", 0, false}, {"internal", 65536, false}, {"internal", 65537, true}, {"veth", 262144, false}} {
		n := network(1, func(o *ovs.Options) { o.Ports = c.ports })
		n.SuperPacket = c.size
		if _, err := (ovs.Wiring{}).Join(n); (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "ports: veth") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestManyPorts of one switch have each a number of their own, and a name that an
// interface may have.
func TestManyPorts(t *testing.T) {
	n := network(0, func(o *ovs.Options) { o.Per = "chain" })
	for i := range 5000 {
		node := func(i int) wiring.Port { return wiring.Port{Node: fmt.Sprint("f", i), Device: "eth0"} }
		n.Hops = append(n.Hops, wiring.Hop{A: node(2 * i), B: node(2*i + 1)})
	}
	numbers, names := map[int]bool{}, map[string]bool{}
	for _, p := range of[made.SwitchSpec](join(t, n))[0].Ports {
		if p.Number < 1 || p.Number >= 0xff00 || len(p.Name) > 15 {
			t.Errorf("%+v", p)
		}
		numbers[p.Number], names[p.Name] = true, true
	}
	if len(numbers) != 10000 || len(names) != 10000 {
		t.Errorf("%d numbers and %d names of 10000 ports", len(numbers), len(names))
	}
}

func TestOptions(t *testing.T) {
	o := ovs.Wiring{}.Options().(*ovs.Options)
	if wrong := o.Validate(); len(wrong) > 0 {
		t.Errorf("the defaults are wrong: %v", wrong)
	}
	o.Per, o.Switches = "chain", 2
	if wrong := o.Validate(); len(wrong) != 1 || wrong[0].Path != "switches" {
		t.Errorf("two switches in a row with one for the chain: %v", wrong)
	}
}
