package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/impair"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/supervise"
)

// TestMain makes this test program its own supervisor, as nfchain is, and a bench
// that can be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case process.SuperviseCommand:
			exit(superviseOwner(os.Args[2]))
		case "inside":
			exit(inside(os.Args[2], os.Args[3], os.Args[4:]))
		case impair.Command:
			exit(impairs(os.Args[2:]))
		case relayCommand:
			exit(relay(os.Args[2]))
		case "bench":
			exit(bench(os.Args[2:]))
		}
	}
	os.Exit(nstest.Main(m))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func superviseOwner(owner string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return supervise.Run(ctx, supervise.Config{
		Owner:   owner,
		LogFile: func(node string) string { return deploy.LogFile(owner, node) },
		Again:   func(ctx context.Context) error { return newHost().Drain(ctx, owner) },
		Leaving: func() (*steer.Leaving, error) { return newHost().Leaving(owner) },
		Restore: func(ctx context.Context) (map[string]error, error) { return newHost().Restore(ctx, owner) },
		Inside: func(s process.Spec, args []string, _ int) []string {
			hosts := container.NamesFile(owner, s.Node)
			text, _ := json.Marshal(s)
			if s.Own {
				args = append([]string{"/proc/self/exe"}, args[1:]...)
			}
			return append([]string{"/proc/self/exe", "inside", string(text), hosts}, args...)
		},
	})
}

func inside(text, hosts string, args []string) error {
	var s process.Spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	return netns.Become{Ref: s.Netns, Hosts: hosts}.Run(args)
}

// impairs is the program of an impair function: chain, function, config, and perhaps
// that it is only asked whether it is ready.
func impairs(args []string) error {
	c, err := impair.Decode(args[2])
	if err != nil {
		return err
	}
	if len(args) > 3 {
		return impair.Ready(c)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return impair.Run(ctx, c, deploy.RecordFile(args[0], args[1]))
}
