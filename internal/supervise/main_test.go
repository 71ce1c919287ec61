package supervise_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/impair"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/supervise"
)

// TestMain makes this test program its own supervisor, as nfchain is.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case process.SuperviseCommand:
			fail(superviseOwner(os.Args[2]))
		case "elder":
			fail(elder(os.Args[2]))
		case "inside":
			fail(inside(os.Args[2], os.Args[3], os.Args[4:]))
		case impair.Command:
			fail(impairs(os.Args[2:]))
		}
	}
	os.Exit(nstest.Main(m))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func superviseOwner(owner string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return supervise.Run(ctx, config(owner))
}

// elder is a supervisor of a version that does not say which it is.
func elder(owner string) error {
	l, err := rundir.Listen(process.Address(owner))
	if err != nil {
		return err
	}
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return err
		}
		_ = json.NewDecoder(c).Decode(&process.Request{})
		_ = json.NewEncoder(c).Encode(process.Reply{Programs: []process.Status{}})
		_ = c.Close()
	}
}

func config(owner string) supervise.Config {
	return supervise.Config{
		Owner:   owner,
		LogFile: func(node string) string { return deploy.LogFile(owner, node) },
		Inside: func(s process.Spec, args []string, beside int) []string {
			text, _ := json.Marshal(s)
			if s.Own {
				args = append([]string{"/proc/self/exe"}, args[1:]...)
			}
			return append([]string{"/proc/self/exe", "inside", string(text), strconv.Itoa(beside)}, args...)
		},
	}
}

// impairs is the program of an impair function: chain, function, config, and perhaps that it is
// only asked whether it is ready.
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

// holdsUntil is the word of a program's environment that names a file: what is to become a
// program that a shell runs waits for it.
const holdsUntil = "HOLDS_UNTIL="

func inside(text, beside string, args []string) error {
	var s process.Spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	for _, word := range s.Env {
		if file, held := strings.CutPrefix(word, holdsUntil); held && args[0] == "sh" {
			begun := time.Now() // which a test that was killed leaves for good
			for _, err := os.Stat(file); err != nil && time.Since(begun) < 5*time.Minute; _, err = os.Stat(file) {
				time.Sleep(time.Millisecond)
			}
		}
	}
	b := netns.Become{Ref: s.Netns, Dir: s.Dir, MemoryBytes: s.MemoryBytes, Mark: process.MarkOf(os.Environ()), Own: netns.Own{Scratch: s.Scratch, Files: s.Files}}
	if len(s.Scratch) > 0 {
		b.Beside, _ = strconv.Atoi(beside)
	}
	return b.Run(args)
}
