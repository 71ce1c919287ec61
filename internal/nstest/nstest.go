// Package nstest helps tests that touch the kernel: it names what they make so
// that packages tested at once never meet, skips only what this machine is proven
// to lack, and fails a test run that leaves anything behind.
package nstest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest/hosttest"
)

// tag is in the name of everything that this test process makes.
var tag = "t" + strconv.FormatInt(int64(os.Getpid()), 36)

var owners atomic.Int64

// Owner is a chain's name that nobody else uses.
func Owner(testing.TB) string { return fmt.Sprintf("%s-%d", tag, owners.Add(1)) }

// Name is the name of a namespace or file that nobody else uses.
func Name(tb testing.TB) string { return Owner(tb) }

// Device is an interface's name that nobody else on the host uses.
func Device(testing.TB) string { return fmt.Sprintf("%s-%d", tag, owners.Add(1)) }

var machine = sync.OnceValue(func() feature.Set { return feature.Probe(context.Background(), feature.Host()) })

// Root skips a test that needs to change the network, where that is refused.
func Root(tb testing.TB) {
	tb.Helper()
	Require(tb, feature.Root, feature.NetAdmin, feature.NetNS, feature.Veth)
}

// Require skips a test when this machine lacks a feature, saying which and why.
// There is no other way to skip: where the feature is present, the test runs.
func Require(tb testing.TB, features ...string) {
	tb.Helper()
	if ownEngine.Load() {
		features = slices.DeleteFunc(slices.Clone(features), func(name string) bool { return name == feature.ToolDocker })
	}
	if err := machine().Missing(features...); err != nil {
		tb.Skip(err)
	}
}

// Has tells whether this machine has a feature, for plans that leave a choice to it.
func Has(name string) bool { return machine().Has(name) }

// aloneEnv tells the test binary that it is in namespaces of its own.
const aloneEnv = "NFCHAIN_TEST_ALONE"

// Alone has a test run in network and mount namespaces that stand for a host which
// nobody else changes meanwhile, with an empty /run. It returns false in the process
// that only waits for the one inside.
func Alone(tb testing.TB) bool {
	tb.Helper()
	Root(tb)
	if os.Getenv(aloneEnv) != "" {
		settleIn(tb)
		return true
	}
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^"+tb.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), aloneEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+tb.Name()) {
		tb.Fatalf("%v\n%s", err, out)
	}
	return false
}

func settleIn(tb testing.TB) {
	tb.Helper()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		tb.Fatal(err)
	}
	hosttest.Forget("/run", os.TempDir())
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, ""); err != nil {
		tb.Fatal(err)
	}
	_ = unix.Mount("sysfs", "/sys", "sysfs", 0, "") // that of the new network namespace
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		tb.Fatal(err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		tb.Fatal(err)
	}
}

// Namespace makes an empty network namespace that goes with the test.
func Namespace(tb testing.TB) string {
	tb.Helper()
	Root(tb)
	name := Name(tb)
	if err := netns.Create(name, func() error { return nil }); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := netns.Remove(name); err != nil {
			tb.Error(err)
		}
	})
	return name
}

// Unnamed is an empty network namespace that goes with the test, and with its process however that ends: a worker of a
// fuzz test may be killed.
func Unnamed(tb testing.TB) *netns.Handle {
	tb.Helper()
	Root(tb)
	u, err := netns.NewUnnamed()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(u.Close)
	return Open(tb, u.Ref())
}

// Open holds a namespace open for as long as the test runs.
func Open(tb testing.TB, ref string) *netns.Handle {
	tb.Helper()
	h, err := netns.Open(ref)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(h.Close)
	return h
}
