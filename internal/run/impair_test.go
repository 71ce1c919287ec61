package run_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/redirect"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// newImpaired is a chain of one impair function with these options, in YAML, up and
// ready.
func newImpaired(t *testing.T, options string) *bed {
	t.Helper()
	nstest.Require(t, feature.Tun, feature.Redirect)
	b := newBed(t, "functions:\n- {name: bad, kind: impair, "+options+"}\n")
	b.up(run.UpOptions{Wait: true})
	return b
}

// did is what the function did in each direction.
func (b *bed) did() map[string]trial.Impairment {
	b.Helper()
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		b.Fatal(err)
	}
	state, err := run.Inspect(context.Background(), p)
	if err != nil {
		b.Fatal(err)
	}
	ways := map[string]trial.Impairment{}
	for _, n := range state.Nodes {
		for _, i := range n.Impairments {
			ways[i.Direction] = i
		}
	}
	return ways
}

// inFlight is how many packets the function holds.
func inFlight(i trial.Impairment) uint64 {
	return i.Seen + i.Duplicated - i.Dropped - i.Overflowed - i.Left - i.Refused
}

// TestImpairLossIsExact: 1 in 1,000 of 10,000 packets is 10, and the same for both
// directions and address families, one going on where the other was.
func TestImpairLossIsExact(t *testing.T) {
	b := newImpaired(t, "impair: {loss: {every: 1000}}")
	for family := range 2 {
		for _, way := range []string{"forward", "reverse"} {
			got := b.numbered(way, family, 10_000)
			missing := missingOf(got, 10_000)
			if len(got) != 9990 || !slices.Equal(missing, []int{999, 1999, 2999, 3999, 4999, 5999, 6999, 7999, 8999, 9999}) || !slices.IsSorted(got) {
				t.Errorf("%s, family %d: %d came, missing %v, %+v", way, family, len(got), missing, b.did()[way])
			}
		}
	}
	for way, i := range b.did() {
		if i.Seen != 20_000 || i.Dropped != 20 || i.Left != 19_980 || i.Unread+i.Overflowed+i.Refused != 0 {
			t.Errorf("%s: %+v", way, i)
		}
	}
}

func missingOf(got []int, n int) (missing []int) {
	have := make([]bool, n)
	for _, i := range got {
		have[i] = true
	}
	for i, h := range have {
		if !h {
			missing = append(missing, i)
		}
	}
	return missing
}

// TestImpairDuplicatesAndReorders: exactly, and each by as much as was asked.
func TestImpairDuplicatesAndReorders(t *testing.T) {
	b := newImpaired(t, "direction: forward, impair: {duplicate: {every: 100}, reorder: {every: 250, by: 7}}")
	got := b.numbered("forward", 0, 1005)
	var want []int
	for i := range 1005 {
		n := i + 1
		switch {
		case n%250 == 0: // its copy is not put back
			want = append(want, nthCopies(i, n%500 == 0)...)
		default:
			want = append(want, i)
			if n%100 == 0 {
				want = append(want, i)
			}
			if n > 250 && n%250 == 7 && n-7 < 1000 {
				want = append(want, i-7)
			}
		}
	}
	want = append(want, 999) // that one is given up waiting
	if !slices.Equal(got, want) {
		t.Errorf("came %v\nwant %v", got, want)
	}
	ways := b.did()
	if i := ways["forward"]; len(ways) != 1 || i.Duplicated != 10 || i.Reordered != 4 || i.GivenUp != 1 {
		t.Errorf("%+v", ways)
	}
	if back := b.numbered("reverse", 0, 500); len(back) != 500 || !slices.IsSorted(back) {
		t.Errorf("of 500 the other way %d came", len(back))
	}
}

// nthCopies of a packet that is put back: the second, where there is one, is not.
func nthCopies(i int, twice bool) []int {
	if twice {
		return []int{i}
	}
	return nil
}

// TestImpairDelay: the kernel's own times of packets' coming and going differ by what
// the function was asked for and says that it was late. It is never early.
func TestImpairDelay(t *testing.T) {
	const delay = 5 * time.Millisecond
	agree := false
	// Again where the machine did something else between the function's giving a packet
	// to the kernel and the kernel's sending it, which is no fault of what it says.
	for try := 0; !agree && try < 10; try++ {
		b := newImpaired(t, "direction: forward, impair: {delay: 5ms}")
		held, did := b.residence(300), b.did()["forward"]
		slices.Sort(held)
		if held[0] < delay-time.Microsecond {
			t.Errorf("a packet left after %v", held[0])
		}
		late, err := trial.DecodeHistogram(did.Late)
		if err != nil {
			t.Fatalf("%+v, %v", did, err)
		}
		got, says := held[len(held)/2], delay+time.Duration(trial.Percentile(late, 50))
		agree = did.Unstamped == 0 && got >= says*98/100 && got <= says*102/100
		t.Logf("half of the packets were held for %v, and it says %v; %d came without a time", got, says, did.Unstamped)
	}
	if !agree {
		t.Error("what it says is never what the kernel saw")
	}
}

// TestImpairCarries what is larger than a packet: bytes come as they were sent, in
// packets that the interface takes, whatever the sender's offloads.
func TestImpairCarries(t *testing.T) {
	for _, mtu := range []string{"1500", "9000"} {
		nstest.Require(t, feature.Tun, feature.Redirect)
		b := newBed(t, "mtu: "+mtu+"\nfunctions:\n- {name: bad, kind: impair, impair: {loss: {ratio: 0.002}, delay: 1ms, jitter: 1ms}}\n")
		b.up(run.UpOptions{Wait: true})
		sent := make([]byte, 8<<20)
		_, _ = rand.Read(sent)
		if got := b.transfer(sent); !bytes.Equal(got, sent) {
			t.Errorf("mtu %s: %d bytes came of %d", mtu, len(got), len(sent))
		}
		ways := b.did()
		if i := ways["forward"]; i.Seen < 8<<20/9000 || i.Refused > 0 {
			t.Errorf("mtu %s: %+v", mtu, i)
		}
	}
}

// transfer sends bytes over TCP and gives those that came.
func (b *bed) transfer(sent []byte) []byte {
	b.Helper()
	e := b.ends("forward", 0)
	var listener net.Listener
	err := netns.Do(e.toNetns, func() (err error) {
		listener, err = net.Listen("tcp", net.JoinHostPort(e.address.String(), "5555"))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		_ = netns.Do(e.fromNetns, func() error {
			c, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				return err
			}
			_, err = c.Write(sent)
			_ = c.Close()
			return err
		})
	}()
	c, err := listener.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute)) // with losses, and a program on a busy machine on the way
	got, err := io.ReadAll(c)
	if err != nil {
		b.Error(err)
	}
	return got
}

// TestImpairedProgramKilled: while it is down what comes is lost and counted, and the
// next one goes on where it was.
func TestImpairedProgramKilled(t *testing.T) {
	b := newImpaired(t, "impair: {loss: {every: 10}}")
	if got := b.numbered("forward", 0, 25); len(got) != 23 {
		t.Fatalf("%d came", len(got))
	}
	supervisor := b.supervisor()
	nstest.Stop(t, supervisor) // so that nobody starts it again yet
	b.killProgram()
	talk := b.talk("forward", 0)
	talk.send(25, 5)
	b.until("lost packets are counted", func() bool { return b.arrived().Lost == 5 })
	_ = syscall.Kill(supervisor, syscall.SIGCONT)
	b.until("it runs again", func() bool {
		s, err := process.Statuses(b.name())
		return err == nil && len(s) == 1 && s[0].State == process.Running && s[0].Restarts == 1
	})
	if got := b.numbered("forward", 0, 25); len(got) != 22 {
		t.Errorf("%d came", len(got))
	}
	if i := b.did()["forward"]; i.Seen != 50 || i.Dropped != 5 || i.Unread != 5 {
		t.Errorf("%+v", i)
	}
	b.unchanged()
}

// arrived is what came in to be redirected, as the kernel has it: how many packets,
// and how many of them nobody read.
func (b *bed) arrived() redirect.Counts {
	b.Helper()
	h, err := netns.Open(namespace.Name(b.name(), "bad"))
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	c, err := redirect.Count(resource.At(h, b.name()), redirect.Spec{Device: "eth0", To: "impair0"})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// TestImpairedProgramStalled: what does not fit into its queue meanwhile is counted,
// and the rest still comes.
func TestImpairedProgramStalled(t *testing.T) {
	b := newImpaired(t, "direction: forward, impair: {duplicate: {every: 2}}")
	s, err := process.Find(b.name())
	if err != nil || len(s) != 1 {
		t.Fatal(s, err)
	}
	const sent, queue = 10_000, 8192
	began := time.Now()
	nstest.Stop(t, s[0].PID)
	b.sendUnread(sent)
	if lost := b.arrived().Lost; lost < sent-queue {
		t.Errorf("of %d packets that nobody read only %d are lost; the queue holds %d", sent, lost, queue)
	}
	_ = syscall.Kill(s[0].PID, syscall.SIGCONT)
	b.until("the rest is let go", func() bool {
		i := b.did()["forward"]
		return i.Seen+i.Unread == sent && i.Left == i.Seen+i.Seen/2
	})
	took := time.Since(began)
	// The namespace's own packets to its interfaces take some places.
	i := b.did()["forward"]
	if i.Unread < sent-queue || i.Unread > sent-queue+100 || i.Overflowed+i.Refused > 0 {
		t.Errorf("%+v", i)
	}
	if i.Unstamped > 0 && took < time.Second { // times of packets that old are not believed
		t.Errorf("%d packets had no time of arrival after %v", i.Unstamped, took)
	}
}

// sendUnread sends packets to a function whose program is stopped, no more at once
// than the kernel keeps for a core that is busy (net.core.netdev_max_backlog).
func (b *bed) sendUnread(n int) {
	b.Helper()
	k, before := b.talk("forward", 0), b.arrived().Packets
	for sent := 0; sent < n; sent += window {
		k.send(sent, window)
		b.until("all have arrived", func() bool { return b.arrived().Packets >= before+uint64(sent+window) })
	}
}

func (b *bed) supervisor() int {
	b.Helper()
	c, err := rundir.Dial(process.Address(b.name()))
	if err != nil {
		b.Fatal(err)
	}
	_ = c.Close()
	return c.PID
}

// killProgram kills the only program and waits until the kernel knows.
func (b *bed) killProgram() {
	b.Helper()
	s, err := process.Find(b.name())
	if err != nil || len(s) != 1 {
		b.Fatal(s, err)
	}
	if err := syscall.Kill(s[0].PID, syscall.SIGKILL); err != nil {
		b.Fatal(err)
	}
	b.until("nobody reads the device", func() bool { return !b.carrier("impair0") })
}

// until waits for something.
func (b *bed) until(what string, is func() bool) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("it is never so: %s; %+v", what, b.did())
		}
	}
}

// unchanged fails the test if bringing the chain up again changes anything.
func (b *bed) unchanged() {
	b.Helper()
	_, changes, err := b.edit(context.Background(), run.UpOptions{})
	if err != nil || len(changes) > 0 {
		b.Errorf("%+v, error %v", changes, err)
	}
}

// TestImpairEdited: other options make another program, another direction takes a
// device away, and another kind all there was.
func TestImpairEdited(t *testing.T) {
	b := newImpaired(t, "impair: {loss: {every: 1}}")
	b.unchanged()
	for _, edit := range []struct {
		function string
		devices  string
		changed  int
	}{
		{"kind: impair, impair: {duplicate: {every: 1}}", "eth0 eth1 impair0 impair1", 1},
		{"kind: impair, direction: reverse, impair: {duplicate: {every: 1}}", "eth0 eth1 impair1", 3},
		{"kind: forward", "eth0 eth1", 3},
	} {
		b.chain = plantest.Chain(t, b.name(), "functions:\n- {name: bad, "+edit.function+"}\n")
		_, changes, err := b.edit(context.Background(), run.UpOptions{Wait: true})
		if err != nil || len(changes) != edit.changed {
			t.Errorf("%s: %d changes %+v, error %v", edit.function, len(changes), changes, err)
		}
		var devices []string
		for name := range b.interfaces("bad") {
			if name != "lo" {
				devices = append(devices, name)
			}
		}
		slices.Sort(devices)
		if got := strings.Join(devices, " "); got != edit.devices {
			t.Errorf("%s: interfaces %s", edit.function, got)
		}
		b.unchanged()
		if got := b.numbered("reverse", 1, 50); len(got) < 50 {
			t.Errorf("%s: %d of 50 came", edit.function, len(got))
		}
	}
}

// TestImpairedChainIsProven and measured: loss, delay and reordering do not hide that
// traffic takes the path, and what the function did meanwhile is stored.
func TestImpairedChainIsProven(t *testing.T) {
	nstest.Require(t, feature.Tun, feature.Redirect)
	b := newBed(t, "functions:\n- {name: a, kind: forward}\n- {name: bad, kind: impair, impair: {loss: {every: 3}, duplicate: {every: 4}, reorder: {every: 5, by: 2}, delay: 100ms}}\n")
	m, r := b.measurement(load(1, trial.UDP), tool{func(context.Context, traffic.Job) (traffic.Sample, error) {
		before := b.did()["forward"].Seen
		b.talk("forward", 0).send(0, 30)
		b.until("all is counted", func() bool {
			d := b.did()["forward"]
			return d.Seen >= before+30 && inFlight(d) == 0
		})
		return traffic.Sample{Metrics: map[string]float64{"goodput_bps": 1}}, nil
	}})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	for _, tr := range b.stored(r.ID).Trials {
		list := tr.Observed.Impairments
		// Late packets of the proof may be among them.
		if len(list) != 2 || list[0].Node != "bad" || list[0].Direction != "forward" || list[0].Seen < 30 || list[0].Seen > 60 ||
			list[0].Dropped*3+2 < list[0].Seen || list[0].Dropped*3 > list[0].Seen+2 {
			t.Errorf("%+v", list)
		}
	}
}
