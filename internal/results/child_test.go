package results

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// childVariable makes the test binary act as another process of nfchain.
const childVariable = "NFCHAIN_TEST_RESULTS_CHILD"

func TestMain(m *testing.M) {
	act, child := map[string]func(path string, args []string) error{
		"append": appendForever, "count": appendCount, "full": fillDisk, "readonly": useReadOnly,
	}[os.Getenv(childVariable)]
	if !child {
		os.Exit(m.Run())
	}
	if err := act(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(act string, args ...string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", args...)
	c.Env = append(os.Environ(), childVariable+"="+act)
	c.Stderr = os.Stderr
	return c
}

// appendForever appends trials to a new run and prints the repeat of each that
// was committed.
func appendForever(path string, args []string) error {
	ctx := context.Background()
	s, err := Open(path)
	if err != nil {
		return err
	}
	run := sampleRun(args[0], start)
	run.State = trial.Running
	if err := s.CreateRun(ctx, run); err != nil {
		return err
	}
	for i := 1; ; i++ {
		if err := s.AppendTrial(ctx, run.ID, sampleTrial(i%2, i)); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

// appendCount appends args[1] trials to a new run.
func appendCount(path string, args []string) error {
	ctx := context.Background()
	s, err := Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if err := s.CreateRun(ctx, sampleRun(args[0], start)); err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	for i := 1; err == nil && i <= n; i++ {
		err = s.AppendTrial(ctx, args[0], sampleTrial(0, i))
	}
	return err
}
