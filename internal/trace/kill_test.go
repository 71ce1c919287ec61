package trace_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trace"
)

// childEnv names the namespace that a child of the test looks at until it is killed.
const childEnv = "NFCHAIN_TEST_TRACE"

// tracepoints that a trace of others' traffic with softirqs is attached to.
const tracepoints = 8

func child(ref string) {
	c := trace.Chain{Name: "child", Nodes: []trace.Node{{Name: "only", Namespace: ref, Interfaces: []string{"lo"}}}}
	_, err := trace.Run(context.Background(), c, trace.Options{For: time.Hour, Softirq: true})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestKilledLeavesNothing: programs and maps of a trace that was killed are gone.
func TestKilledLeavesNothing(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	ref := nstest.Namespace(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), childEnv+"="+ref), os.Stderr
	if err := netns.Start(netns.Host, cmd); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	var links []uint32
	for deadline := time.Now().Add(time.Minute); len(links) < tracepoints && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		links = nstest.Held(t, cmd.Process.Pid, "link_id")
	}
	programs := nstest.Held(t, cmd.Process.Pid, "prog_id")
	if len(links) < tracepoints || len(programs) < tracepoints {
		t.Fatalf("links %v, programs %v", links, programs)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, id := range programs {
		nstest.Freed(t, id)
	}
}
