package deploy_test

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// filled lets what is of a connection pass, new ones too, and knows no more than its tables hold.
const filled = "{name: fw, kind: firewall, runtime: inline, firewall: {policy: drop, rules: {list: [{state: [new, established], action: accept}]}}}"

// TestMillionFlows come through replicas and an inline firewall that keep some of them in
// mind: no packet is lost for that, the tables stay as large as they were, and what made room is counted.
func TestMillionFlows(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, forwarders["tcx"]+spec(filled, forward("between"), replicas("shared", 3)))
	up(t, p)
	crosses(t, p)
	const sources, destinations = 1000, 1000
	dropped, had := nstest.Dropped(t), reached(t, p)
	ports := make([]uint16, destinations)
	for i := range ports {
		ports[i] = uint16(20000 + i)
	}
	inside(t, p.Client().Namespace, func() error {
		for source := range sources {
			if err := scatter(p, uint16(40000+source), ports); err != nil {
				return err
			}
		}
		return nil
	})
	arrived := func() uint64 { return reached(t, p) - had + nstest.Dropped(t) - dropped }
	for deadline := time.Now().Add(time.Minute); arrived() < sources*destinations && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := arrived(); n < sources*destinations {
		t.Errorf("of %d packets %d came; the machine dropped %d", sources*destinations, reached(t, p)-had, nstest.Dropped(t)-dropped)
	}
	at := resource.At(nstest.Open(t, p.Between()), owner)
	flows, most := known(t, p, at)
	all := 0
	for _, n := range flows.Known {
		all += n
	}
	if all > most || all < most/2 || len(flows.Known) != 3 || flows.New < sources*destinations-(nstest.Dropped(t)-dropped) {
		t.Errorf("replicas have %v flows known, of %d at most, of %d", flows.Known, most, flows.New)
	}
	c, found, err := pass.ConnectionsAt(at, device(p, p.Inline[0].Forward.Pass))
	if err != nil || !found || c.Held+c.Evicted < sources*destinations-(nstest.Dropped(t)-dropped) || c.Evicted < c.Held {
		t.Errorf("the firewall knows %+v, %t, error %v", c, found, err)
	}
}

// scatter a datagram from one port to each of many.
func scatter(p *plan.Plan, from uint16, to []uint16) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(from)}); err != nil {
		return err
	}
	at := unix.SockaddrInet4{Addr: addresses(p, p.Client().Name, p.Server().Name)[0].As4()}
	for _, port := range to {
		at.Port = int(port)
		if err := unix.Sendto(fd, []byte{1}, 0, &at); err != nil {
			return err
		}
	}
	return nil
}

// reached counts what came to the server by its interface.
func reached(t *testing.T, p *plan.Plan) uint64 {
	t.Helper()
	l, err := nstest.Open(t, p.Server().Namespace).LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Statistics.RxPackets
}

// known flows of the only function with replicas, and how many there are at most.
func known(t *testing.T, p *plan.Plan, at resource.Place) (*steer.Flows, int) {
	t.Helper()
	var ways []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Among != nil {
			ways = append(ways, s)
		}
	}
	all, err := steer.FlowsOf(at, ways)
	if err != nil || all["shared"] == nil {
		t.Fatal(all, err)
	}
	return all["shared"], int(ways[0].Among.Flows)
}

// device of a resource.
func device(p *plan.Plan, id string) string {
	i := slices.IndexFunc(p.Resources, func(r resource.Resource) bool { return r.ID == id })
	return p.Resources[i].Spec.Key()
}
