package rfc6349

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Command is the hidden command of this binary that is one side of a trial.
const Command = "transfer"

// greeting is what a server says on standard error once it has its ports.
const greeting = "ready\n"

// Main is the hidden command: "client" or "server", then the settings. It prints
// what it saw, as JSON; a server does so when it is interrupted.
func Main(args []string, stdout, stderr io.Writer) error {
	var s settings
	if len(args) != 2 {
		return fmt.Errorf("%s needs a side and its settings", Command)
	}
	if err := json.Unmarshal([]byte(args[1]), &s); err != nil {
		return fmt.Errorf("settings of %s: %w", Command, err)
	}
	var report any
	var err error
	if args[0] == "server" {
		ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT)
		defer stop()
		report, err = serve(ctx, s, stderr)
	} else {
		report, err = transfer(s)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(report)
}
