package deploy_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// tourists have functions write into packets that they came by, in order: each appends its letter, of which there are these, to the
// code point. Up to three have room there.
const tourists = "abx"

// welcome has the functions of these letters do so, and one called tell mark what is on tour, but those that another plan has, which do: while
// a chain of rules comes in the place of another, the kernel may have a packet meet both.
func welcome(t testing.TB, p, welcomed *plan.Plan) {
	t.Helper()
	for _, n := range p.Functions() {
		if welcomed != nil && slices.Contains(welcomed.Namespaces(), n.Namespace) {
			continue
		}
		var rules strings.Builder
		number := strings.Index(tourists, n.Function()) + 1
		if n.Function() == "tell" {
			rules.WriteString("udp dport 7015-7019 meta mark set 0x9\n")
		} else if number == 0 {
			continue
		}
		for v := range 17 {
			if number == 0 {
				break
			}
			match, next := fmt.Sprint(v), 4*v+number
			if v == 16 {
				match, next = "16-63", 0 // one too many: as if by none
			}
			for _, family := range []string{"ip", "ip6"} {
				fmt.Fprintf(&rules, "udp dport 7015-7019 %s dscp %s %s dscp set %d accept\n", family, match, family, next)
			}
		}
		sh(t, "ip netns exec "+n.Namespace+" nft -f - <<'RULES'\ntable inet tour {\nchain forward {\ntype filter hook forward priority mangle\n"+rules.String()+"}\n}\nRULES\n")
	}
}

// visited are the functions that a packet came by, in order, by its traffic class.
func visited(class byte) (functions string) {
	for v := int(class >> 2); v > 0; v /= 4 {
		letter := "-"
		if i := v%4 - 1; i >= 0 {
			letter = tourists[i : i+1]
		}
		functions = letter + functions
	}
	return functions
}

// tour is one stream of numbered packets, by each of which is known which functions it came by.
type tour struct {
	name    string
	out, in *net.UDPConn
	to      netip.AddrPort
	stop    chan struct{}
	// sends until it is stopped, and done when it is read no more.
	sends, done sync.WaitGroup

	mu    sync.Mutex
	sent  uint64
	came  map[uint64]string
	late  int
	last  uint64
	again int
	// refused are the packets that this machine did not send.
	refused []error
}

// tours both ways over one flow of each family, between the same ports: those of the first end come first, and begin them.
func tours(t testing.TB, p *plan.Plan, port uint16) (all []*tour) {
	t.Helper()
	ends := []plan.Node{p.Client(), p.Server()}
	near, far := addresses(p, ends[1].Name, ends[0].Name), addresses(p, ends[0].Name, ends[1].Name)
	var back []*tour
	for i := range near {
		at := []netip.AddrPort{netip.AddrPortFrom(near[i], port), netip.AddrPortFrom(far[i], port)}
		sockets := []*net.UDPConn{listens(t, ends[0], at[0]), listens(t, ends[1], at[1])}
		there := &tour{name: "to " + at[1].String(), out: sockets[0], in: sockets[1], to: at[1]}
		here := &tour{name: "back to " + at[0].String(), out: sockets[1], in: sockets[0], to: at[0]}
		all, back = append(all, there), append(back, here)
	}
	all = append(all, back...)
	for _, o := range all {
		o.stop, o.came = make(chan struct{}), map[uint64]string{}
		o.done.Add(1)
		go o.take()
	}
	for _, o := range all {
		o.travel()
		o.more(t, 100)
	}
	return all
}

// listens where packets are to come that tell their traffic class.
func listens(t testing.TB, n plan.Node, at netip.AddrPort) (in *net.UDPConn) {
	t.Helper()
	inside(t, n.Namespace, func() (err error) { in, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(at)); return })
	t.Cleanup(func() { _ = in.Close() })
	raw, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20)
		if at.Addr().Is4() {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVTOS, 1)
		} else {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1)
		}
	}), err)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func (o *tour) take() {
	defer o.done.Done()
	b, told := make([]byte, 64), make([]byte, 128)
	for {
		n, more, _, _, err := o.in.ReadMsgUDP(b, told)
		if err != nil {
			return
		}
		if n != 8 {
			continue
		}
		functions := "?"
		messages, _ := unix.ParseSocketControlMessage(told[:more])
		for _, m := range messages {
			if len(m.Data) > 0 {
				functions = visited(m.Data[0])
			}
		}
		number := binary.BigEndian.Uint64(b)
		o.mu.Lock()
		if _, is := o.came[number]; is {
			o.again++
		}
		if number < o.last {
			o.late++
		}
		o.came[number], o.last = functions, max(o.last, number)
		o.mu.Unlock()
	}
}

// travel sends until it is stopped, a thousand packets a second, from one core: what another core has before that is done with its packets
// would come before these.
func (o *tour) travel() {
	o.sends.Add(1)
	go func() {
		defer o.sends.Done()
		nstest.OnOneCore()
		for {
			select {
			case <-o.stop:
				return
			case <-time.After(time.Millisecond):
			}
			o.mu.Lock()
			n := o.sent
			o.sent++
			o.mu.Unlock()
			if _, err := o.out.WriteToUDPAddrPort(binary.BigEndian.AppendUint64(nil, n), o.to); err != nil {
				o.mu.Lock()
				o.refused = append(o.refused, fmt.Errorf("packet %d: %w", n, err))
				o.mu.Unlock()
			}
		}
	}()
}

// more waits until so many more came.
func (o *tour) more(t testing.TB, many int) {
	t.Helper()
	count := func() int {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.came)
	}
	for begin, ends := count(), time.Now().Add(time.Minute); count() < begin+many; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(ends) {
			t.Fatalf("%s: nothing comes", o.name)
		}
	}
}

// end tours, of which every packet is to come once, each tour's by the same functions; these are told.
func end(t testing.TB, all []*tour, dropped uint64) (functions []string) {
	t.Helper()
	for _, o := range all {
		close(o.stop)
		o.sends.Wait()
	}
	for _, o := range all {
		for ends := time.Now().Add(20 * time.Second); o.missing() > 0 && time.Now().Before(ends); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	for _, o := range all {
		_ = o.in.SetReadDeadline(time.Now())
		o.done.Wait()
		functions = append(functions, o.ended(t, dropped))
	}
	for _, o := range all {
		_ = o.in.Close()
	}
	return functions
}

func (o *tour) missing() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent - uint64(len(o.came))
}

func (o *tour) ended(t testing.TB, dropped uint64) (functions string) {
	t.Helper()
	if lost, other := o.missing(), nstest.Dropped(t)-dropped; lost > other || o.again > 0 {
		var which []uint64
		for n := range o.sent {
			if _, came := o.came[n]; !came {
				which = append(which, n)
			}
		}
		t.Errorf("%s: of %d packets %d did not come, %v, and %d came again; cores dropped %d; refused: %v", o.name, o.sent, lost, which, o.again, other, errors.Join(o.refused...))
	}
	by := map[string]int{}
	for _, f := range o.came {
		by[f]++
		functions = f
	}
	if len(by) != 1 {
		t.Errorf("%s: packets came by %v", o.name, by)
	}
	if o.late > 10 { // a core's own may come after another's
		t.Errorf("%s: %d packets came after later ones", o.name, o.late)
	}
	return functions
}
