package deploy_test

import (
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/trial"
)

// Flows of a crowd: these differ in their source ports, and then in their destination ports, of which so many have one.
const (
	million     = 1_000_000
	crowdPort   = 8000
	crowdSource = 20000 // the first of them
	onePort     = 1 << 14
)

// crowd is a million flows of the built-in generator, whose packets its meter counts: none is lost but what the machine drops because
// other tests flood it. It tells how many packets came of how many flows at least.
func crowd(t *testing.T, p *plan.Plan) (came uint64) {
	t.Helper()
	for port := crowdPort; came < million; port += million/onePort + 1 {
		if port > crowdPort+10*million/onePort {
			t.Fatalf("of flows to %d ports only %d were sent, or were dropped by the machine", port-crowdPort, came)
		}
		came += sends(t, p, port, trial.Condition{Flows: million}, 1)
	}
	return came
}

// regulars are flows as of a crowd, but of each come two packets soon one after the other: for the kernel's tables, from which
// those that were seen once go first, these are flows in use. After so many that no table that is asked about has room for them
// all none is left there that was idle before them. Something is done again and again meanwhile.
func regulars(t *testing.T, p *plan.Plan, meanwhile func()) {
	t.Helper()
	cores := traffic.Allowed()
	for port, came := crowdPort+1000, uint64(0); came < 1<<18; port++ {
		if port > crowdPort+1100 {
			t.Fatalf("of flows to %d ports only %d were sent, or were dropped by the machine", 100, came)
		}
		c := trial.Condition{Flows: onePort, Affinity: strconv.Itoa(cores[port%len(cores)])}
		came += max(sends(t, p, port, c, 2), onePort) - onePort
		meanwhile()
	}
}

// sends so many packets of each flow of a load, to ports of the server from one on, and counts what came.
func sends(t *testing.T, p *plan.Plan, port int, load trial.Condition, each int) (came uint64) {
	t.Helper()
	all := float64(load.Flows * each)
	load.OfferedPps = 80_000
	load.DurationS = all / load.OfferedPps
	dropped := nstest.Dropped(t)
	s, err := generated(t, p, port, load)
	if err != nil {
		t.Fatal(err)
	}
	sent := math.Round((1 - s.Metrics["unsent_ratio"]) * all)
	lost := math.Round(s.Metrics["loss_ratio"] * sent)
	if drop := nstest.Dropped(t) - dropped; lost > float64(drop) || s.Metrics["duplicate_ratio"] > 0 {
		t.Errorf("of %v packets to ports from %d on %v did not come, and %v came again; the machine dropped %d", sent, port, lost, s.Metrics["duplicate_ratio"], drop)
	}
	return uint64(sent - lost)
}

// generated is what came of a load of the built-in generator, of IPv4, to ports of the server from one on.
func generated(t *testing.T, p *plan.Plan, port int, load trial.Condition) (traffic.Sample, error) {
	load.IPVersion = 4
	return builtin.Tool{}.Run(t.Context(), traffic.Job{
		FirstPort: port,
		Ends:      traffic.Ends{ClientNetns: p.Client().Namespace, ServerNetns: p.Server().Namespace, Address: p.Reached().Addresses[0]},
		Condition: load,
	})
}

// exchange between the client, from a port of its own, and a port of the server.
type exchange struct {
	client net.Conn
	server net.PacketConn
	// from is whom the server had the last question from.
	from net.Addr
}

// exchanges of a plan: from the client's port to the server's.
func exchanges(t testing.TB, p *plan.Plan, from, to uint16) *exchange {
	t.Helper()
	e, reached := &exchange{}, p.Reached()
	inside(t, p.Server().Namespace, func() (err error) {
		e.server, err = net.ListenPacket("udp", netip.AddrPortFrom(reached.Served[0], to).String())
		return err
	})
	t.Cleanup(func() { _ = e.server.Close() })
	inside(t, p.Client().Namespace, func() (err error) {
		d := net.Dialer{LocalAddr: net.UDPAddrFromAddrPort(netip.AddrPortFrom(p.Client().East.Addresses[0], from))}
		e.client, err = d.Dial("udp", netip.AddrPortFrom(reached.Addresses[0], to).String())
		return err
	})
	t.Cleanup(func() { _ = e.client.Close() })
	return e
}

// goesOn asks, is answered, and asks again each second where a machine that is full of others' packets lost one.
func (e *exchange) goesOn(t testing.TB) {
	t.Helper()
	b := make([]byte, 16)
	for end := time.Now().Add(long); time.Now().Before(end); {
		if _, err := e.client.Write([]byte("question")); err != nil {
			t.Fatal(err)
		}
		_ = e.server.SetReadDeadline(time.Now().Add(time.Second))
		_, from, err := e.server.ReadFrom(b)
		if err != nil {
			continue
		}
		if e.from = from; e.answers(t, time.Second) {
			return
		}
	}
	t.Fatalf("%s is not answered by %s", e.client.LocalAddr(), e.client.RemoteAddr())
}

// answers tells whether what the server sends without being asked comes to the client.
func (e *exchange) answers(t testing.TB, patience time.Duration) bool {
	t.Helper()
	if _, err := e.server.WriteTo([]byte("answer"), e.from); err != nil {
		t.Fatal(err)
	}
	_ = e.client.SetReadDeadline(time.Now().Add(patience))
	_, err := e.client.Read(make([]byte, 16))
	return err == nil
}

// goesBy these of some functions.
func (e *exchange) goesBy(t *testing.T, p *plan.Plan, some ...string) (by []string) {
	t.Helper()
	const packets = 50 // the kernel sends some of its own
	before := tookIn(t, p)
	for range packets {
		e.goesOn(t)
	}
	for name, n := range tookIn(t, p) {
		if slices.Contains(some, name) && n-before[name] >= packets {
			by = append(by, name)
		}
	}
	return by
}
