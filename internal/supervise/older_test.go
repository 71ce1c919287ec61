package supervise_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// other is a function beside the first, and lasting are flows that do not end while a test looks. A busy machine may keep flows
// silent for longer than the usual census.
const (
	other   = "{name: other, kind: forward, onFailure: bypass}"
	counted = "{name: one, kind: counter, runtime: inline}"
	lasting = "ebpf: {idle: 10m, census: 5s}\n"
)

// staying are the flows on older versions of the path.
func (p *path) staying() int {
	p.Helper()
	h, err := netns.Open(p.Between())
	if err != nil {
		p.Fatal(err)
	}
	defer h.Close()
	s, err := steer.StayingOn(resource.At(h, p.owner))
	if err != nil {
		p.Fatal(err)
	}
	if s == nil {
		return 0
	}
	return s.Flows
}

// TestFlowsLeaveAnOlderPath that they stay on, when a function on it fails, and none is lost from then on: they go the newest, past
// what fails there.
func TestFlowsLeaveAnOlderPath(t *testing.T) {
	on := func(functions string) string {
		return "classifier: {otherwise: direct, rules: [{name: all, match: {}, functions: [" + functions + "]}]}\n"
	}
	two := strings.Replace(pair, "bypass", "replica", 1)
	const parts = "{name: tell, kind: forward, branches: [{mark: 9, to: last}], "
	const straight = "classifier: {otherwise: chain, rules: [{name: straight, match: {protocol: tcp}, functions: []}]}\n"
	for name, c := range map[string]struct {
		before, after string
		fails         string
		leaves        bool
	}{
		"by one that is taken out":                   {spec(first, other, last), spec(other, last), "a", true},
		"by one that is on both":                     {spec(other, last), spec(first, other, last), "other", false},
		"by one that is at another place":            {spec(first, other, last), spec(other, last, first), "a", false},
		"and the newest by one put in":               {spec(other, last), spec(other, first, last), "a", false},
		"which nobody has watched so far":            {spec(strings.Replace(other, ", onFailure: bypass", "", 1), last), spec(first, other, last), "other", false},
		"past an inline one, by one taken out":       {spec(other, counted, first, last), spec(other, last), "a", true},
		"past an inline one, by one on both":         {spec(last, counted, other), spec(last, first, counted, other), "other", false},
		"beside an inline one, by one put in":        {spec(last, counted, other), spec(last, first, counted, other), "a", false},
		"past an inline one, by a replica taken out": {spec(other, counted, two, last), spec(other, last), "x-1", true},
		"past an inline one, by a replica on both":   {spec(last, counted, two), spec(last, first, counted, two), "x-1", false},
		"where ways part beside rules, by one taken out": {
			spec(parts+"next: a}", first, other, last) + straight, spec(parts+"next: other}", other, last) + straight, "a", true},
		"where ways part beside rules, by one on both": {
			spec(parts+"next: other}", other, last) + straight, spec(parts+"next: a}", first, other, last) + straight, "other", false},
		"of several, by one taken out":   {spec(first, other, last) + on("a, last"), spec(other, last) + on("other, last"), "a", true},
		"of several, by a replica":       {spec(pair, other, last) + on("x, last"), spec(other, last) + on("other, last"), "x-1", true},
		"of several, by one on both":     {spec(first, other, last) + on("a, last"), spec(first, other, last) + on("a, other, last"), "a", false},
		"before rules, by one taken out": {spec(first, other, last), spec(other, last) + on("other, last"), "a", true},
		"before rules, by one on both":   {spec(first, other, last), spec(first, other, last) + on("a, last"), "a", false},
		"of rules, by one taken out":     {spec(first, other, last) + on("a, last"), spec(other, last), "a", true},
		"of rules, by one on both":       {spec(first, other, last) + on("a, last"), spec(first, other, last), "a", false},
		"of rules, by a replica":         {spec(pair, other, last) + on("x, last"), spec(other, last), "x-1", true},
		"of rules, before replicas":      {spec(pair, first, last) + on("last, x"), spec(first, pair, last), "a", false},
		"of rules, by one behind them":   {spec(first, other, last) + on("other, last"), spec(first, other, last), "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, lasting+c.before)
			dropped := nstest.Dropped(t)
			s := newStreamOf(t, p, 20)
			s.more(t, 100)
			begun, namespace := s.next.Load(), ""
			old := p.Plan
			p.up(lasting + c.after)
			for _, n := range append(old.Nodes, p.Nodes...) {
				if n.Name == c.fails {
					namespace = n.Namespace
				}
			}
			if n := p.staying(); n < 20 {
				t.Fatalf("of 20 flows %d stay", n)
			}
			for _, h := range p.health() {
				p.well(h.Node)
			}
			s.more(t, 100)
			s.whole(t, begun, s.next.Load(), dropped)
			if out, err := exec.Command("ip", "netns", "exec", namespace, "sh", "-ec", nstest.Drops).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for deadline := time.Now().Add(2 * time.Minute); p.staying() > 0; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d flows stay by a function that has failed", p.staying())
				}
			}
			for _, n := range p.Nodes {
				if n.Name == c.fails {
					p.until(c.fails, "failed", hasFailed)
				}
			}
			time.Sleep(100 * time.Millisecond) // what is on its way to it is lost
			found := s.next.Load()
			s.more(t, 100)
			s.whole(t, found+1, s.next.Load(), dropped)
			p.crosses()
			p.up(lasting + c.after)
			if netns.Exists(namespace) == c.leaves {
				t.Errorf("the namespace %s is there: %t", namespace, netns.Exists(namespace))
			}
		})
	}
}

// TestFlowsOnAnOlderPathLeaveAReplica that fails, where no newer path leads to replicas: none is lost from then on, and they stay on
// their path.
func TestFlowsOnAnOlderPathLeaveAReplica(t *testing.T) {
	t.Parallel()
	on := func(udp string) string {
		return lasting + spec(other, pair, last) + "classifier: {otherwise: direct, rules: [{name: udp, match: {protocol: udp}, functions: [" + udp +
			"]}, {name: ping, match: {protocol: icmp}, functions: [x, last]}]}\n"
	}
	p := newPath(t, on("other, x"))
	dropped := nstest.Dropped(t)
	s := newStreamOf(t, p, 20)
	s.more(t, 100)
	p.up(on("other"))
	if n := p.staying(); n < 20 {
		t.Fatalf("of 20 flows %d stay", n)
	}
	for _, h := range p.health() {
		p.well(h.Node)
	}
	s.more(t, 100)
	p.sh("x-1", nstest.Drops)
	p.until("x-1", "failed", hasFailed)
	p.keeps("other", 1)
	time.Sleep(100 * time.Millisecond) // what is on its way to it is lost
	found := s.next.Load()
	s.more(t, 100)
	s.whole(t, found+1, s.next.Load(), dropped)
	if n := p.staying(); n < 20 {
		t.Errorf("of 20 flows %d stay when a replica has failed", n)
	}
}

// health of the functions that are watched.
func (p *path) health() []process.Health {
	p.Helper()
	_, all, err := process.OnWatch(p.owner)
	if err != nil {
		p.Fatal(err)
	}
	return all
}

// TestNoFlowsStayUnwatched: where nobody would see that a function fails by which flows stay, they go the newest path at
// once, and so they do where packets are led past one that has failed.
func TestNoFlowsStayUnwatched(t *testing.T) {
	for name, c := range map[string]struct {
		before, after []string
		meanwhile     func(t *testing.T, p *path)
	}{
		"none is watched any more": {[]string{first, last}, []string{last}, nil},
		"one has failed": {[]string{first, other, last}, []string{first, last}, func(_ *testing.T, p *path) {
			p.sh("a", nstest.Drops)
			p.until("a", "failed", hasFailed)
			p.sends("client", "other")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, lasting+spec(c.before...))
			p.well("a")
			s := newStreamOf(t, p, 20)
			s.more(t, 100)
			if c.meanwhile != nil {
				c.meanwhile(t, p)
			}
			d := &deploy.Deployer{}
			if _, err := d.Up(t.Context(), p.planned(lasting+spec(c.after...))); err != nil {
				t.Fatal(err)
			}
			if d.Staying > 0 {
				t.Errorf("%d flows stay", d.Staying)
			}
			s.more(t, 100)
		})
	}
}

// TestOlderPathsOfKilledSupervisor: the next supervisor does not know how to watch over functions that are not on the path any more,
// and has flows that stay by them go the newest; those that stay by others, stay.
func TestOlderPathsOfKilledSupervisor(t *testing.T) {
	for name, c := range map[string]struct {
		before []string
		stay   bool
	}{"by one that was watched": {[]string{first, other, last}, false}, "by others": {[]string{last, other}, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, lasting+spec(c.before...))
			p.well("other")
			dropped := nstest.Dropped(t)
			s := newStreamOf(t, p, 20)
			s.more(t, 100)
			begun, after := s.next.Load(), lasting+spec(other)
			p.up(after)
			if n := p.staying(); n < 20 {
				t.Fatalf("of 20 flows %d stay", n)
			}
			p.well("other")
			killSupervisorOf(t, p.owner)
			p.up(after)
			p.well("other")
			if n := p.staying(); n > 0 != c.stay {
				t.Errorf("%d flows stay", n)
			}
			s.more(t, 100)
			s.whole(t, begun, s.next.Load(), dropped)
			p.crosses()
		})
	}
}
