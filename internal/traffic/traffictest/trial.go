package traffictest

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
)

// Interrupted ends a trial of a tool a little after so many of its processes were
// started: it must say so, and leave none behind.
func Interrupted(tb testing.TB, tool traffic.Tool, j traffic.Job, processes int64) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var started atomic.Int64
	j.Started = func(string, int) {
		if started.Add(1) == processes {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
	}
	if _, err := tool.Run(ctx, j); !errors.Is(err, context.Canceled) {
		tb.Errorf("error %v", err)
	}
	Empty(tb, j)
}

// Command runs a program in a namespace.
func Command(tb testing.TB, ref, program string, args ...string) {
	tb.Helper()
	c := exec.Command(program, args...)
	if err := netns.Start(ref, c); err != nil {
		tb.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		tb.Fatalf("%s: %v", c, err)
	}
}

// Filter puts an nftables rule for packets that come in or go out into a namespace; the
// hook is input or output.
func Filter(tb testing.TB, ref, hook, rule string) {
	tb.Helper()
	nstest.Require(tb, "nftables", "tool.nft")
	Command(tb, ref, "nft", "add table t; add chain t c { type filter hook "+hook+" priority 0; }; add rule t c "+rule)
}

// Main runs the tests of a tool whose processes are this program again, as those of
// nfchain are: then it is the hidden command.
func Main(m *testing.M, command string, be func(args []string, stdout, stderr io.Writer) error) int {
	if len(os.Args) < 3 || os.Args[1] != command {
		return nstest.Main(m)
	}
	if err := be(os.Args[2:], os.Stdout, os.Stderr); err != nil {
		_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
		return 1
	}
	return 0
}
