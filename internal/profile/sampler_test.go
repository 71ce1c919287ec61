package profile_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/profile"
)

// childEnv has this test program be a child that does something until it is killed.
const childEnv = "NFCHAIN_TEST_PROFILE"

func child(how string) {
	switch name, ref, _ := strings.Cut(how, " "); name {
	case "spin":
		for {
			spinForProfile(1 << 20)
		}
	case "ask":
		askForProfile()
	case "sample":
		c := profile.Chain{Nodes: []profile.Node{{Name: "only", Namespace: ref}}}
		if _, err := profile.Start(c, profile.Options{Frequency: 499, Softirq: true}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("sampling")
		select {}
	case "talk":
		talk()
	}
	os.Exit(1)
}

// sink is where spinForProfile leaves what it made, so that it is not left out.
var sink uint64

// spinForProfile is the function that a profile must find.
//
//go:noinline
func spinForProfile(n uint64) {
	x := sink
	for i := range n {
		x = x*6364136223846793005 + i
	}
	sink = x
}

// askForProfile spends its time in the kernel.
func askForProfile() {
	for {
		if _, err := os.ReadFile("/proc/self/stat"); err != nil {
			os.Exit(1)
		}
	}
}

// talk sends packets to itself over the loopback device, which a softirq receives.
func talk() {
	to, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	from, err := net.Dial("udp4", to.LocalAddr().String())
	if err != nil {
		os.Exit(1)
	}
	go func() {
		for b := make([]byte, 64); ; {
			_, _, _ = to.ReadFrom(b)
		}
	}()
	for b := make([]byte, 64); ; {
		if _, err := from.Write(b); err != nil {
			fmt.Fprintln(os.Stderr, "talk:", err)
			os.Exit(1)
		}
	}
}

// start has a child of this program work in a namespace until the test ends.
func start(t *testing.T, ref, how string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), childEnv+"="+how), os.Stderr
	if err := netns.Start(ref, cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// bed is a chain of two namespaces.
func bed(t *testing.T) profile.Chain {
	t.Helper()
	nstest.Require(t, feature.Root, feature.PerfEvents, feature.NetNS)
	c := profile.Chain{Name: "bed", Wiring: "none"}
	for _, name := range []string{"one", "two"} {
		c.Nodes = append(c.Nodes, profile.Node{Name: name, Kind: "forward", Namespace: nstest.Namespace(t)})
	}
	return c
}

// until samples until what is wanted was seen.
func until(t *testing.T, c profile.Chain, o profile.Options, seen func(profile.Stack) bool) profile.Samples {
	t.Helper()
	all := profile.Samples{}
	for deadline := time.Now().Add(60 * time.Second); ; {
		s, err := profile.Start(c, o)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // samples are taken meanwhile
		got, err := s.Stop()
		if err != nil {
			t.Fatal(err)
		}
		all.Add(got)
		if slices.ContainsFunc(all.Stacks, seen) {
			return all
		}
		if time.Now().After(deadline) {
			t.Fatalf("not seen in %d stacks; warnings %q", len(all.Stacks), all.Warnings)
		}
	}
}

func has(st profile.Stack, function string, kernel bool) bool {
	return slices.ContainsFunc(st.Frames, func(f profile.Frame) bool {
		return f.Kernel == kernel && strings.Contains(f.Function, function)
	})
}

// softirqs are with programs in the kernel and without; each test that takes them
// asks for what the kernel must have.
var softirqs = map[string]bool{"with programs": true, "without": false}

// TestBusyLoopIsFound: a program that is busy in a node's namespace is there by the
// name of its function, and nowhere else.
func TestBusyLoopIsFound(t *testing.T) {
	for name, softirq := range softirqs {
		t.Run(name, func(t *testing.T) {
			c := bed(t)
			if softirq {
				nstest.Require(t, feature.BPFTrace)
			}
			start(t, c.Nodes[1].Namespace, "spin")
			s := until(t, c, profile.Options{Frequency: 1999, Softirq: softirq}, func(st profile.Stack) bool {
				return st.Hop == "two" && has(st, "spinForProfile", false)
			})
			if s.ByHop != softirq {
				t.Errorf("by hop: %t; %q", s.ByHop, s.Warnings)
			}
			for _, st := range s.Stacks {
				if has(st, "spinForProfile", false) && (st.Hop == "one" || st.Hop == profile.Outside || st.Hop == profile.Idle) {
					t.Errorf("the loop counts for %s: %+v", st.Hop, st)
				}
			}
		})
	}
}

// TestKernelIsNamed: what a program has the kernel do is below it, by the kernel's names.
func TestKernelIsNamed(t *testing.T) {
	c := bed(t)
	start(t, c.Nodes[0].Namespace, "ask")
	until(t, c, profile.Options{Frequency: 1999}, func(st profile.Stack) bool {
		return st.Hop == "one" && has(st, "askForProfile", false) && has(st, "vfs_read", true)
	})
}

// TestSoftirqCountsForWhoseThePacketIs.
func TestSoftirqCountsForWhoseThePacketIs(t *testing.T) {
	c := bed(t)
	nstest.Require(t, feature.BPFTrace)
	h := nstest.Open(t, c.Nodes[1].Namespace)
	lo, err := h.LinkByName("lo")
	if err == nil {
		err = h.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatal(err)
	}
	start(t, c.Nodes[1].Namespace, "talk")
	s := until(t, c, profile.Options{Frequency: 1999, Softirq: true}, func(st profile.Stack) bool {
		return st.Hop == "two" && has(st, "udp_queue_rcv", true) && has(st, "softirq", true)
	})
	for _, st := range s.Stacks {
		if has(st, "udp_queue_rcv", true) && st.Process == "profile.test" && st.Hop != "two" {
			t.Errorf("a packet of two counts for %s: %+v", st.Hop, st)
		}
	}
}

// TestEveryCoreIsSampled, whatever it does.
func TestEveryCoreIsSampled(t *testing.T) {
	c := bed(t)
	seen := map[int]bool{}
	s := until(t, c, profile.Options{Frequency: 499}, func(st profile.Stack) bool {
		seen[st.CPU] = true
		return len(seen) == runtime.NumCPU()
	})
	if len(s.Cores) < runtime.NumCPU() || s.Frequency != 499 || s.Seconds <= 0 {
		t.Errorf("%d cores, %d Hz, %v s", len(s.Cores), s.Frequency, s.Seconds)
	}
}

func TestNoSuchNamespace(t *testing.T) {
	_, err := profile.Start(profile.Chain{Nodes: []profile.Node{{Name: "gone", Namespace: nstest.Name(t)}}}, profile.Options{Frequency: 499})
	if err == nil || !strings.Contains(err.Error(), "namespace of gone") {
		t.Error(err)
	}
}
