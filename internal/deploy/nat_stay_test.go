package deploy_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// TestFlowsStayPastTranslations that change where namespaces do: those from before keep the addresses that they have and the functions that they go
// by, without a packet lost or overtaken, and new ones get what there is then; later edits among them.
func TestFlowsStayPastTranslations(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	const public = `nat: {source: {}, destination: {addresses: [203.0.113.2, "2001:db8::2"]}}`
	const own, hides = "nat: {source: {}, destination: {}}", "nat: {source: {masquerade: true}}"
	const putIn = "put in, and taken out" // it hears answers, of which there are none to what is sent one way
	const wall = "policy: drop, rules: {list: [{state: [new, established, related], action: accept}]}"
	a, b, c, fw := forward("a"), forward("b"), forward("c"), walled("both", wall)
	for name, of := range map[string]struct {
		edits [][]string
		// atOnce is the edit by which all flows go the new path, from 1.
		atOnce int
	}{
		putIn:                      {[][]string{{a, b}, {a, forward("x"), translating(hides), b}, {a, b}}, 1},
		"taken out, and put in":    {[][]string{{translating(hides), b}, {a, b}, {translating(hides), b}}, 2},
		"taken out alone":          {[][]string{{a, translating(own), b}, {a, b}}, 0},
		"another in its place":     {[][]string{{a, translating(hides), b}, {a, forward("x"), "{name: other, kind: nat, runtime: inline, " + hides + "}", b}}, 0},
		"behind another":           {[][]string{{translating(public), c}, {a, translating(public), c}}, 0},
		"before another, and back": {[][]string{{translating(own), c}, {translating(own), b, c}, {translating(own), c}}, 0},
		"beside a firewall":        {[][]string{{translating(public), fw, c}, {a, translating(public), fw, c}, {a, translating(public), b, fw, c}}, 0},
		"alone and not":            {[][]string{{translating(public)}, {a, translating(public)}, {b, translating(public)}}, 0},
		"where flows stay":         {[][]string{{translating(own), a, c}, {translating(own), b, c}, {a, translating(own), b, c}}, 0},
		"where some are not noted": {[][]string{{translating(own), a, c}, {translating(own), b, c}, {a, translating(own), b, c}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			const wiring = "wiring: ebpf\nebpf: {idle: 1m, census: 5s}\n" // a busy machine may keep a connection silent for longer than the usual census
			p := planned(t, owner, wiring+spec(of.edits[0]...))
			up(t, p)
			crosses(t, p)
			reached := p.Reached()
			s := streamsTo(t, p, reached.Addresses, reached.Served)
			var begun []*dialogue
			begin := func(p *plan.Plan) {
				t.Helper()
				reached := p.Reached()
				to, at := netip.AddrPortFrom(reached.Addresses[0], 7014), netip.AddrPortFrom(reached.Served[0], 7014)
				var server net.Listener
				inside(t, p.Server().Namespace, func() (err error) { server, err = net.Listen("tcp", at.String()); return })
				defer func() { _ = server.Close() }()
				one := converse(t, p, server, to)
				if want := reached.Source[0].String(); one.from != want {
					t.Errorf("a connection comes from %s, want %s", one.from, want)
				}
				begun = append(begun, one)
			}
			begin(p)
			for i, functions := range of.edits[1:] {
				s.more(t, 100)
				if name == "where some are not noted" && i+1 == of.atOnce {
					unnoted(t, p)
				}
				p = planned(t, owner, wiring+spec(functions...))
				if i == 0 { // somebody begins the edit and comes to no end
					failed := errors.New("a function does not start")
					if _, err := (&deploy.Deployer{Made: func() error { return failed }}).Up(t.Context(), p); !errors.Is(err, failed) {
						t.Fatal(err)
					}
					s.more(t, 100)
				}
				d := &deploy.Deployer{}
				if _, err := d.Up(t.Context(), p); err != nil {
					t.Fatal(err)
				}
				if atOnce := i+1 == of.atOnce; (d.AtOnce != "") != atOnce || (d.Staying < 3) != atOnce {
					t.Errorf("edit %d: %d moved (%s) and %d stay", i, d.Moved, d.AtOnce, d.Staying)
				}
				time.Sleep(5200 * time.Millisecond) // in which new flows are taken for those from before
				unchanged(t, p)
				begin(p)
				s.more(t, 100)
			}
			for _, one := range begun {
				one.ends(t, "an earlier path")
			}
			s.ends(t)
			for i, from := range s.from {
				if len(from) != 1 && name != putIn || s.late[i] > 10 { // a core's own may come after another's
					t.Errorf("packets to %s come from %v, %d of them late", reached.Addresses[i], from, s.late[i])
				}
			}
			moves(t, p)
			begin(p)
			begun[len(begun)-1].ends(t, "the end")
		})
	}
}

// unnoted leaves a chain as an nfchain does from before flows that stay were noted before what translates their addresses.
func unnoted(t *testing.T, p *plan.Plan) {
	t.Helper()
	place, taken := resource.At(nstest.Open(t, p.Between()), p.Chain), 0
	mine, err := place.Mine()
	if err != nil {
		t.Fatal(err)
	}
	if err := place.Do(func() error {
		for index := range mine {
			all, err := held.Find(place, index, held.Leads)
			for _, one := range all {
				taken++
				err = errors.Join(err, one.Take(place, index))
			}
			held.CloseAll(all)
			if err != nil {
				return err
			}
		}
		return nil
	}); err != nil || taken == 0 {
		t.Fatalf("%d programs were taken away: %v", taken, err)
	}
}

// TestTranslatedFlowsStayEitherWay: those of which packets go one way alone while it is found out which flows there are go on the other way, too, by what
// they met.
func TestTranslatedFlowsStayEitherWay(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	nat, b, c := translating("nat: {source: {}, destination: {}}"), forward("b"), forward("c")
	for name, edit := range map[string][2]string{
		"taken out":            {spec(nat, b), spec(c, b)},
		"another in its place": {spec(nat, b), spec(c, "{name: other, kind: nat, runtime: inline, nat: {source: {}, destination: {}}}", b)},
		"behind another":       {spec(nat, b), spec(c, nat, b)},
	} {
		for _, answers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, answers %t", name, answers), func(t *testing.T) {
				t.Parallel()
				owner := nstest.Owner(t)
				downAfter(t, owner)
				const wiring = "wiring: ebpf\nebpf: {idle: 1m, census: 5s}\n"
				p := planned(t, owner, wiring+edit[0])
				up(t, p)
				r := p.Reached()
				far, near := listens(t, p.Server(), netip.AddrPortFrom(r.Served[0], 7013)), listens(t, p.Client(), netip.AddrPortFrom(p.Client().East.Addresses[0], 7013))
				to, back := netip.AddrPortFrom(r.Addresses[0], 7013), netip.AddrPort{}
				forth := func() (err error) {
					back, err = crossesOnce(near, far, to)
					return err
				}
				home := func() error { _, err := crossesOnce(far, near, back); return err }
				for _, one := range []func() error{forth, home} {
					if err := one(); err != nil {
						t.Fatal(err)
					}
				}
				one, other := forth, home
				if answers {
					one, other = home, forth
				}
				stop := againAndAgain(5*time.Millisecond, one)
				p = planned(t, owner, wiring+edit[1])
				d := &deploy.Deployer{}
				if _, err := d.Up(t.Context(), p); err != nil || d.AtOnce != "" || d.Staying == 0 {
					t.Errorf("%d stay (%s): %v", d.Staying, d.AtOnce, err)
				}
				time.Sleep(5200 * time.Millisecond) // in which new flows are taken for those from before
				if err := stop(); err != nil {
					t.Error(err)
				}
				before := cameOut(t, p, "c")
				for range 3 {
					if err := other(); err != nil {
						t.Error(err)
					}
				}
				if n := cameOut(t, p, "c") - before; n > 2 { // what finds neighbours
					t.Errorf("%d packets go by the function that came", n)
				}
			})
		}
	}
}

// crossesOnce sends one packet, and tells from where it came.
func crossesOnce(from, at *net.UDPConn, to netip.AddrPort) (back netip.AddrPort, err error) {
	if _, err = from.WriteToUDPAddrPort([]byte("x"), to); err != nil {
		return back, err
	}
	_ = at.SetReadDeadline(time.Now().Add(20 * time.Second))
	_, back, err = at.ReadFromUDPAddrPort(make([]byte, 16))
	return netip.AddrPortFrom(back.Addr().Unmap(), back.Port()), err
}
