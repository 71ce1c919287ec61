// Package observe reads what the machine did during one trial: cores, processes,
// memory, disks, interfaces, where there are sensors, frequency and
// temperature, and whether somebody took a core away or set the clock. It reads counters at both ends and takes the difference; in
// between it looks now and then, and only at what would be gone by the end. What
// the machine cannot tell is absent. It measures no traffic and changes nothing.
package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// Targets are what to observe besides the machine itself.
type Targets struct {
	// Processes gives the process ids of every node, as this process sees them; it
	// is called often, from one goroutine at a time. Nil observes none.
	Processes func() map[string][]int
	// Interfaces dumps the counters of the chain's interfaces. Nil observes none.
	Interfaces func(context.Context) ([]trial.InterfaceCounts, error)
	// Fragments reads what namespaces counted of fragments. Nil observes none.
	Fragments func() ([]trial.FragmentCounts, error)
	// Files is where /proc and /sys are; empty is the machine's own.
	Files procfs.Root
	// Every is the time between two looks during the trial, 0 is one second; it is
	// longer where looking takes long.
	Every time.Duration
}

// Watch is an observation under way.
type Watch struct {
	targets Targets
	before  counters
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the looking has ended

	mu        sync.Mutex // guards what follows
	processes *ledger
	sensors   sensors
	steady    *steady
}

// counters are the readings that are subtracted.
type counters struct {
	cores      map[int]coreTimes
	disks      map[string]diskSectors
	interfaces []trial.InterfaceCounts
	fragments  []trial.FragmentCounts
	busy       busyness
}

// Start begins an observation; its error is that of Targets.Interfaces or
// Targets.Fragments. Watch.Stop must follow. When ctx is done, looking ends, but Stop still gives what is known.
func Start(ctx context.Context, targets Targets) (*Watch, error) {
	if targets.Every <= 0 {
		targets.Every = time.Second
	}
	w := &Watch{targets: targets, ended: make(chan struct{}), steady: newSteady(targets.Files, ahead)}
	interfaces, err := targets.interfaces(ctx)
	if err != nil {
		return nil, err
	}
	if w.before.fragments, err = targets.fragments(); err != nil {
		return nil, err
	}
	w.before.interfaces = interfaces
	w.processes = newLedger(targets.Files)
	w.processes.begin(targets.processes())
	w.before.disks = readDisks(targets.Files)
	w.before.busy = readBusyness(targets.Files)
	// The cores come last here and first in Stop: they are what the observation
	// itself keeps busy.
	w.before.cores = readCores(targets.Files)
	ctx, w.cancel = context.WithCancel(ctx)
	go w.look(ctx)
	return w, nil
}

// look samples until ctx is done.
func (w *Watch) look(ctx context.Context) {
	defer close(w.ended)
	next := time.NewTimer(w.targets.Every)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			began := time.Now()
			w.sample()
			next.Reset(pause(w.targets.Every, time.Since(began)))
		}
	}
}

// pause is the time to the next look: looking may take a hundredth of one core,
// which a chain of a thousand processes would exceed.
func pause(every, took time.Duration) time.Duration {
	return max(every, 100*took)
}

// sample takes the readings that cannot wait for the end.
func (w *Watch) sample() {
	pids := w.targets.processes()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.processes.see(pids)
	w.sensors.read(w.targets.Files)
	w.steady.look(w.targets.Files)
}

// Stop ends the observation and gives the differences since Start. Its error is
// that of Targets.Interfaces or Targets.Fragments; everything else is given all the same.
func (w *Watch) Stop(ctx context.Context) (trial.Observation, error) {
	cores := readCores(w.targets.Files)
	disks := readDisks(w.targets.Files)
	w.cancel()
	<-w.ended
	w.sample()
	load := loadSince(w.targets.Files, w.before.busy, w.own())
	interfaces, err := w.targets.interfaces(ctx)
	fragments, failed := w.targets.fragments()

	w.mu.Lock()
	defer w.mu.Unlock()
	read, written := diskUse(w.before.disks, disks)
	return trial.Observation{
		CPUs:         coreUse(w.before.cores, cores),
		Processes:    w.processes.use(),
		Interfaces:   interfaceUse(w.before.interfaces, interfaces),
		Fragments:    fragmentsSince(w.before.fragments, fragments),
		MemoryUsed:   memoryUsed(w.targets.Files),
		BlockRead:    read,
		BlockWritten: written,
		FrequencyHz:  w.sensors.frequencies(),
		TemperatureC: w.sensors.celsius,
		Load:         load,
		CoresLost:    w.steady.lost,
		CoresCame:    w.steady.came,
		ClockSetS:    w.steady.clockSet(),
	}, errors.Join(err, failed)
}

// own are the processes that were followed.
func (w *Watch) own() map[int]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	own := map[int]bool{}
	for id := range w.processes.entries {
		own[id.pid] = true
	}
	for pid := range w.processes.ended {
		own[pid] = true
	}
	return own
}

func (t Targets) processes() map[string][]int {
	if t.Processes == nil {
		return nil
	}
	return t.Processes()
}

func (t Targets) interfaces(ctx context.Context) ([]trial.InterfaceCounts, error) {
	if t.Interfaces == nil {
		return nil, nil
	}
	return t.Interfaces(ctx)
}

func (t Targets) fragments() ([]trial.FragmentCounts, error) {
	if t.Fragments == nil {
		return nil, nil
	}
	return t.Fragments()
}
