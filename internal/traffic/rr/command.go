package rr

import (
	"context"
	"io"
	"math"
	"os/signal"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/traffic"
)

// Command is the hidden command of this binary that is one side of a trial.
const Command = "transact"

// heap that may grow before memory is collected: there is next to nothing to
// collect, and collecting would be seen in the percentiles.
const heap = 1 << 30

// Main is the hidden command: "client" or "server", then the settings. It prints
// what it counted, as JSON; a server does so when it is interrupted.
func Main(args []string, stdout, stderr io.Writer) error {
	return traffic.Side(Command, args, stdout,
		func(s settings) (any, error) { defer undisturbed()(); return serve(s, stderr) },
		func(s settings) (any, error) { defer undisturbed()(); return offer(s) })
}

// undisturbed leaves memory uncollected until the heap is full, or what it gives is called.
func undisturbed() (over func()) {
	debug.SetMemoryLimit(heap)
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(percent)
	}
}

// serve answers on every flow's port until it is interrupted.
func serve(s settings, stderr io.Writer) (servedReport, error) {
	interrupted, stop := signal.NotifyContext(context.Background(), unix.SIGINT)
	defer stop()
	servers := make([]*server, s.Flows)
	for flow := range servers {
		var err error
		if servers[flow], err = s.listen(flow); err != nil {
			return servedReport{}, err
		}
	}
	ended := make(chan error, s.Flows)
	for flow, sv := range servers {
		go func() { ended <- onCore(s.Cores, flow, sv.answer) }()
	}
	if _, err := io.WriteString(stderr, traffic.Greeting); err != nil {
		return servedReport{}, err
	}
	select {
	case err := <-ended:
		return servedReport{}, err
	case <-interrupted.Done():
	}
	var sum servedReport
	for _, sv := range servers {
		sum.Requests += sv.requests.Load()
		sum.Strangers += sv.strangers.Load()
	}
	return sum, nil
}
