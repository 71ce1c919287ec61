package rfc6349

import (
	"context"
	"io"
	"os/signal"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/traffic"
)

// Command is the hidden command of this binary that is one side of a trial.
const Command = "transfer"

// Main is the hidden command: "client" or "server", then the settings. It prints
// what it saw, as JSON; a server does so when it is interrupted.
func Main(args []string, stdout, stderr io.Writer) error {
	return traffic.Side(Command, args, stdout,
		func(s settings) (any, error) {
			ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT)
			defer stop()
			return serve(ctx, s, stderr)
		},
		func(s settings) (any, error) { return transfer(s) })
}
