package rr

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/signal"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Command is the hidden command of this binary that is one side of a trial.
const Command = "transact"

// greeting is what a server says on standard error once all flows have their port.
const greeting = "ready\n"

// heap that may grow before memory is collected: there is next to nothing to
// collect, and collecting would be seen in the percentiles.
const heap = 1 << 30

// Main is the hidden command: "client" or "server", then the settings. It prints
// what it counted, as JSON; a server does so when it is interrupted.
func Main(args []string, stdout, stderr io.Writer) error {
	var s settings
	if len(args) != 2 {
		return fmt.Errorf("%s needs a side and its settings", Command)
	}
	if err := json.Unmarshal([]byte(args[1]), &s); err != nil {
		return fmt.Errorf("settings of %s: %w", Command, err)
	}
	debug.SetMemoryLimit(heap)
	debug.SetGCPercent(-1)
	defer debug.SetMemoryLimit(math.MaxInt64)
	var report any
	var err error
	if args[0] == "server" {
		report, err = serve(s, stderr)
	} else {
		report, err = offer(s)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(report)
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
	if _, err := io.WriteString(stderr, greeting); err != nil {
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
