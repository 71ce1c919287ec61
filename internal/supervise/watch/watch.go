// Package watch watches over functions that a forwarder sends packets to: by probes through them, by
// the packets that come out of them, and by their programs. Where one fails, packets are turned past
// it, or end before it, until it is well again.
package watch

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

const (
	// fast is the time between two probes while packets flow, or one is missing,
	fast = 10 * time.Millisecond
	// slow while none did for as long as idle.
	slow = time.Second
	idle = 2 * time.Second
	// deaf is how long what comes through functions at rest wakes nobody again.
	deaf = 50 * time.Millisecond
	// What is at the ports is read again so often: while packets flow, and while none do.
	readsFlowing, readsIdle = 5 * time.Second, 5 * time.Minute
)

// Config is what a watcher needs from the supervisor.
type Config struct {
	Owner string
	// Restart a program that runs, or has done its work, where nothing comes through. It must not wait.
	Restart func(program string)
	// Remake what a node lacks for taking packets, as an interface that somebody removed. It must not wait: Remade tells what came of it.
	Remake func(node string)
	// Say what became of a node.
	Say func(node, text string)
}

// Watcher of a path.
type Watcher struct {
	config      Config
	path        process.Path
	fingerprint string
	done        chan struct{}

	// mu is held while something is looked at or changed, and while the alarm is set.
	mu sync.Mutex
	// alarm is when it is looked again, and stopped that it never is.
	alarm    *alarm
	stopped  bool
	programs map[string]string // states, by name
	pids     map[string]int    // their processes; 0 where there is none
	// ended are the programs that failed since it was last looked, with what is said of that: they may run again by then.
	ended map[string]string
	// unready are the programs whose ready command says no, with what is told of them.
	unready map[string]string
	nodes   []*node
	// joined are the ways that are asked together at this beat.
	joined []*way
	// routine is what is asked while functions are at rest.
	routine routine
	// left are replicas that are on the path no more, and have failed, by their functions.
	left   map[string]steer.Numbers
	ports  map[string]*port
	ends   []*port
	post   post
	socket int
	// table is where probes that have come through are noted, and rows how many it is to have.
	table *health.Table
	rows  int
	// within is the namespace that the socket is in.
	within unix.Stat_t
	// signature of the probes.
	signature uint64
	// beats is a time from which on functions that are at rest are probed every slow.
	beats time.Time
	// active is when packets last flowed, opened when ports were last read, and begun that they
	// were once.
	active, opened time.Time
	begun          bool
	// awaits is until when nobody is woken by what comes through functions at rest, as somebody was.
	awaits time.Time
	// unsure tells that something could not be read when ports last were.
	unsure bool
	// doubts are what was in the way at ports then.
	doubts map[*port]doubt
	// held is until when nothing is taken for a failure or for its end, and no port is turned: the chain is being changed.
	held time.Time
}

// Start watching over a path. What a watcher that was stopped knew of its functions is known on; where
// there was none, which is nil, what is turned at the ports tells what had failed.
func Start(c Config, p process.Path, before *Watcher) (*Watcher, error) {
	w := &Watcher{config: c, path: p, fingerprint: p.Fingerprint(), done: make(chan struct{}),
		programs: map[string]string{}, pids: map[string]int{}, ended: map[string]string{}, unready: map[string]string{}, ports: map[string]*port{}, left: map[string]steer.Numbers{}, socket: -1, begun: before != nil}
	w.signature = signature(before)
	w.beats = beats(w.signature)
	for i, spec := range p.Nodes {
		if err := w.add(i, spec); err != nil {
			return nil, err
		}
	}
	w.line()
	if before != nil {
		if err := w.keep(before); err != nil {
			return nil, err
		}
	}
	if before != nil {
		w.know(before)
	}
	var err error
	if w.alarm, err = newAlarm(); err != nil {
		return nil, err
	}
	w.alarm.set(0)
	go w.run()
	return w, nil
}

// signature of a watcher's probes: no other packet's, but by a chance of 1 in 2^32. Its upper half is that of the watcher before, so that whoever looks
// at packets knows the probes of both.
func signature(before *Watcher) uint64 {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it does not fail
	s := binary.NativeEndian.Uint64(random[:])
	if before != nil {
		s = before.signature&^math.MaxUint32 | s&math.MaxUint32
	}
	return s
}

// know what another watcher knew.
func (w *Watcher) know(before *Watcher) {
	for _, n := range w.nodes {
		for _, old := range before.nodes {
			if old.spec.Node == n.spec.Node {
				n.know(old)
			}
		}
	}
}

// Stop watching. Packets go on where they go.
func (w *Watcher) Stop() {
	w.mu.Lock()
	w.stopped = true
	w.alarm.set(0)
	w.mu.Unlock()
	<-w.done
}

// Fingerprint of the path.
func (w *Watcher) Fingerprint() string { return w.fingerprint }

// Signature of the probes.
func (w *Watcher) Signature() uint64 { return w.signature }

// Hold back for a while, in which functions are changed: a firewall may be meant to let probes through no more, and ports
// are whose who changes them. Once it returns none fails, none is well again, and no port is turned. Another path ends that.
func (w *Watcher) Hold(during time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = time.Now().Add(during)
}

// Health of the watched functions, in path order.
func (w *Watcher) Health() []process.Health {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := []process.Health{}
	for _, n := range w.nodes {
		if !n.leaving {
			all = append(all, n.health())
		}
	}
	return all
}

func (w *Watcher) run() {
	defer close(w.done)
	for w.look() {
		w.alarm.wait()
	}
	w.close()
	w.alarm.close()
	if w.table != nil {
		w.table.Close()
	}
}

// look at everything once, do what follows, and set when to look again; false when that is never.
func (w *Watcher) look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	now := time.Now()
	if w.rest(now) {
		return true
	}
	if now.Sub(w.opened) >= w.reads(now) {
		w.open(now)
	}
	calm := w.listen(now)
	w.act(now)
	switch asked := w.probe(now); { // most functions have let them through by now
	case asked && calm:
		w.hearken(now) // of one probe nothing follows yet
	case asked:
		w.listen(time.Now())
		w.act(now)
	}
	w.sleep(now, w.wait(now))
	return true
}

// act on what is known of the functions.
func (w *Watcher) act(now time.Time) {
	changed := false
	for _, n := range w.nodes {
		if n.leaving {
			w.follow(n, now)
			continue
		}
		changed = w.judge(n, now) || changed
	}
	w.nodes = slices.DeleteFunc(w.nodes, func(n *node) bool { return n.over })
	if changed {
		w.turn()
		w.opened = time.Time{} // what was turned may not be there any more: it is looked at again next
	}
	held := now.Before(w.held)
	maps.DeleteFunc(w.ended, func(name, _ string) bool {
		return !held || w.programs[name] == process.Running // what has not come back by then has failed
	})
}

// reads is how long what was read of the ports counts.
func (w *Watcher) reads(now time.Time) time.Duration {
	if w.unsure {
		return slow
	}
	for _, n := range w.nodes {
		if n.failed {
			return slow
		}
	}
	if w.flows(now) {
		return readsFlowing
	}
	return readsIdle
}

// listen to what came out of all functions, and of the ends; while all is calm, the ends tell when packets flow.
func (w *Watcher) listen(now time.Time) (calm bool) {
	calm = w.calm(now)
	if w.attended(now) {
		calm = false
	}
	if !calm {
		for _, n := range w.nodes {
			if n.listen() {
				w.quicken(now)
			}
		}
	}
	w.hearken(now)
	return calm
}

// hearken to the probes that came through.
func (w *Watcher) hearken(now time.Time) {
	for _, n := range w.nodes {
		for _, v := range n.ways {
			v.hearken(w.table, now)
		}
	}
}

// calm tells that no packet flowed lately, and that nothing speaks against any function.
func (w *Watcher) calm(now time.Time) bool {
	return !w.flows(now) && !slices.ContainsFunc(w.nodes, func(n *node) bool { return n.failed || n.asking() })
}

// ails says why a function that was well has failed; "" where it has not.
func (w *Watcher) ails(n *node, now time.Time) string {
	reason := cmp.Or(n.ill(now, w.ended), n.unready(w.unready))
	if reason == "" && n.silent(now) {
		reason = n.halted(w.pids)
	}
	return reason
}

// judge a function, and tell whether that changed.
func (w *Watcher) judge(n *node, now time.Time) bool {
	if !n.failed {
		reason := w.ails(n, now)
		if reason == "" || now.Before(w.held) {
			return false
		}
		n.fail(now, reason)
		for _, program := range n.spec.Programs {
			if halted(w.pids[program]) == ends {
				w.dies(program)
			}
		}
		w.config.Say(n.spec.Node, fmt.Sprintf("failed: %s; %s", reason, w.follows(n)))
		return true
	}
	switch cut, why := n.cut(), n.unready(w.unready); { // whatever it failed for first: these keep packets away though probes come
	case cut != "" && cut != n.reason:
		n.reason = cut
		w.config.Say(n.spec.Node, "takes no packets: "+cut)
	case cut == "" && why != "":
		n.reason = why
	}
	w.remake(n, now)
	if n.stuck(now, w.programs) {
		n.hung, n.quiet, n.good = min(2*n.hung, longestHung), now, 0
		for _, program := range n.spec.Programs {
			if engine.Paused(w.pids[program]) {
				continue // somebody wants it so, who has it go on
			}
			what := "runs: it is killed"
			if w.programs[program] == process.Ended {
				what = "has ended: it is started again"
			}
			w.config.Say(n.spec.Node, "lets no probe through, and its program "+what)
			w.programs[program] = process.Waiting // until it is told what the next one does: no packet goes to this one
			w.config.Restart(program)
		}
	}
	if n.good < proofs || !n.well(w.programs) || now.Before(w.held) {
		return false
	}
	n.heal(now)
	w.config.Say(n.spec.Node, "is well again: packets go through it")
	return true
}

// follows is what becomes of the packets of a function that has failed.
func (w *Watcher) follows(n *node) string {
	for _, other := range w.nodes {
		if n.spec.Of != "" && other.spec.Of == n.spec.Of && !other.failed {
			return "its flows go to other replicas"
		}
	}
	return map[string]string{
		process.Bypass: "packets go past it", process.Block: "packets end before it", process.Replica: "packets go on to it: no replica is well",
	}[n.spec.OnFailure]
}

// probe the functions that it is time for, and tell whether any was.
func (w *Watcher) probe(now time.Time) (any bool) {
	for _, n := range w.nodes {
		if now.Before(n.due) {
			continue
		}
		any = true
		switch {
		case n.failed:
			w.prove(n, now)
		case w.flows(now):
			w.attend(n, now)
		default:
			w.visit(n, now)
		}
	}
	w.settle(now)
	w.round(now)
	w.send()
	return any
}

// flows tells that packets do, or did lately.
func (w *Watcher) flows(now time.Time) bool { return now.Sub(w.active) < idle }

// wait until it is time for the next function, or for reading what is at the ports.
func (w *Watcher) wait(now time.Time) time.Duration {
	beat := w.beat(now)
	next := beat.Sub(now)
	for _, n := range w.nodes {
		if n.failed || w.flows(now) || n.asking() {
			w.stir()
		}
		if !n.failed && !now.Before(n.due) {
			n.due = beat
			if w.flows(now) || n.asking() {
				n.due = now.Add(fast)
			}
			n.due = n.again(now, n.due)
		}
		next = min(next, n.due.Sub(now))
	}
	for _, n := range w.nodes {
		if n.failed && !n.leaving && n.lacks() && !n.lack.asked {
			next = min(next, w.remakes(n).Sub(now))
		}
	}
	if w.opened.IsZero() {
		next = min(next, fast)
	}
	return max(next, time.Millisecond)
}
