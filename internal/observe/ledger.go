package observe

import (
	"cmp"
	"math"
	"os"
	"slices"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// ledger follows processes that come and go during a trial, by the last that was
// seen of each.
type ledger struct {
	root    procfs.Root
	started uint64 // ticks since boot when it was begun
	entries map[identity]*entry
	ended   map[int]trial.ProcessUse // by id, exact
}

// identity names a process even after its id was given to another.
type identity struct {
	pid     int
	started uint64
}

// entry is the process as it was first and last seen.
type entry struct {
	node        string
	first, last processTimes
	// known is false while there is no difference to tell, and young is true of one that began during the trial.
	known, young bool
	most         *uint64 // the largest resident size that was seen, bytes
}

// seen is one more look at it.
func (e *entry) seen(p processTimes) {
	if p.peak == nil {
		p.peak, p.cpus = e.last.peak, e.last.cpus // it is ending
	}
	if p.took == nil {
		p.took = e.last.took
	}
	e.last = p
	if p.resident != nil && (e.most == nil || *p.resident > *e.most) {
		e.most = p.resident
	}
}

// took is the CPU time between the two looks, s; nil where the clock of the process was not read at either.
func (e *entry) took() *float64 {
	before := e.first.took
	if e.young && before == nil {
		before = new(int64)
	}
	if before == nil || e.last.took == nil {
		return nil
	}
	s := float64(max(0, *e.last.took-*before)) / 1e9
	return &s
}

// memory is the most that it had during the trial: the kernel knows the most that it ever had, which is from before where it is older.
func (e *entry) memory() *uint64 {
	if e.young {
		return e.last.peak
	}
	return e.most
}

func newLedger(root procfs.Root) *ledger {
	l := &ledger{root: root, entries: map[identity]*entry{}, ended: map[int]trial.ProcessUse{}}
	started, ok := uptimeTicks(root)
	if !ok {
		started = math.MaxUint64 // nothing is known to be younger
	}
	l.started = started
	return l
}

// begin takes the processes that are there already as the trial begins.
func (l *ledger) begin(nodes map[string][]int) {
	l.each(nodes, func(node string, id identity, p processTimes) {
		e := &entry{node: node, first: p}
		e.seen(p)
		l.entries[id] = e
	})
}

// see takes another look. A process that began since begin has used nothing
// before; an older one that is new here counts from now.
func (l *ledger) see(nodes map[string][]int) {
	l.each(nodes, func(node string, id identity, p processTimes) {
		e, ok := l.entries[id]
		if !ok {
			young := p.started >= l.started
			e = &entry{node: node, known: young, young: young}
			if !young {
				e.first = p
			}
			l.entries[id] = e
		} else {
			e.known = true
		}
		e.seen(p)
	})
}

func (l *ledger) each(nodes map[string][]int, visit func(string, identity, processTimes)) {
	for node, pids := range nodes {
		for _, pid := range pids {
			if _, over := l.ended[pid]; over {
				continue
			}
			if p, ok := readProcess(l.root, pid); ok {
				visit(node, identity{pid, p.started}, p)
			}
		}
	}
}

// end replaces what was seen of a process by what it came to.
func (l *ledger) end(node, command string, state *os.ProcessState) {
	use := trial.ProcessUse{
		Node: node, Command: command, PID: state.Pid(),
		UserS: state.UserTime().Seconds(), SystemS: state.SystemTime().Seconds(),
	}
	for id, e := range l.entries {
		if id.pid == use.PID {
			// The kernel's own figure at the end (ru_maxrss) begins with the size of
			// the process that started it, so what was seen is better.
			use.MemoryPeak, use.CPUs = e.memory(), e.last.cpus
			delete(l.entries, id)
		}
	}
	l.ended[use.PID] = use
}

// use is what every process used, by node and id. One that was there at the
// beginning and gone at the next look is absent.
func (l *ledger) use() []trial.ProcessUse {
	all := []trial.ProcessUse{}
	for id, e := range l.entries {
		if e.known {
			all = append(all, trial.ProcessUse{
				Node: e.node, Command: e.last.command, PID: id.pid,
				UserS:      seconds(forward(e.first.user, e.last.user)),
				SystemS:    seconds(forward(e.first.system, e.last.system)),
				CPUS:       e.took(),
				MemoryPeak: e.memory(), CPUs: e.last.cpus,
			})
		}
	}
	for _, u := range l.ended {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b trial.ProcessUse) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.PID, b.PID))
	})
	return all
}

func seconds(ticks uint64) float64 { return float64(ticks) / ticksPerSecond }

// Ended tells the Watch that a process it may follow has ended and what it came
// to, exactly. It is for processes that were started during the trial, such as
// tools: all they used is counted.
func (w *Watch) Ended(node, command string, state *os.ProcessState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.processes.end(node, command, state)
}
