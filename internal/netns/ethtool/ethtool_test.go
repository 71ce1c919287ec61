package ethtool

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// pair makes a namespace with a veth pair and opens a socket in it.
func pair(t *testing.T) (string, *Socket) {
	t.Helper()
	nstest.Root(t)
	ref := nstest.Namespace(t)
	h := nstest.Open(t, ref)
	if err := h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a"}, PeerName: "b"}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ref)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return ref, s
}

func TestDriver(t *testing.T) {
	_, s := pair(t)
	if driver, err := s.Driver("a"); driver != "veth" || err != nil {
		t.Errorf("driver %q, %v", driver, err)
	}
	if _, err := s.Driver("none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("an interface that is not there: %v", err)
	}
}

// TestReceiveQueues sets them by ethtool(8) and reads them back.
func TestReceiveQueues(t *testing.T) {
	ref, s := pair(t)
	nstest.Require(t, feature.ToolEthtool, feature.CPUCount)
	for _, want := range []int{2, 1} {
		if out, err := exec.Command("ip", "netns", "exec", ref, "ethtool", "-L", "a", "rx", strconv.Itoa(want)).CombinedOutput(); err != nil && want > 1 {
			t.Fatalf("%v: %s", err, out)
		}
		if n, err := s.ReceiveQueues("a"); n != want || err != nil {
			t.Errorf("%d queues, %v; want %d", n, err, want)
		}
	}
	if _, err := s.ReceiveQueues("none"); err == nil {
		t.Error("an interface that is not there has queues")
	}
}

// TestFeaturesAreTheKernels changes an offload by ethtool(8) and reads it back.
func TestFeaturesAreTheKernels(t *testing.T) {
	ref, s := pair(t)
	nstest.Require(t, feature.ToolEthtool)
	before := states(t, s)
	if !before["tx-tcp-segmentation"].On || before["tx-tcp-segmentation"].Fixed {
		t.Errorf("a veth's TSO: %+v", before["tx-tcp-segmentation"])
	}
	if out, err := exec.Command("ip", "netns", "exec", ref, "ethtool", "-K", "a", "tx-tcp-segmentation", "off").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after := states(t, s)
	for name, f := range after {
		// The kernel takes the second along, because it means nothing without the first.
		meant := name == "tx-tcp-segmentation" || name == "tx-tcp-mangleid-segmentation"
		if changed := f != before[name]; changed != meant {
			t.Errorf("%s was %+v and is %+v", name, before[name], f)
		}
	}
	checkAgainstTool(t, ref, after)
}

func states(t *testing.T, s *Socket) map[string]Feature {
	t.Helper()
	all, err := s.Features("a")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d features, %v", len(all), err)
	}
	found := map[string]Feature{}
	for _, f := range all {
		found[f.Name] = f
	}
	return found
}

// checkAgainstTool compares with every line of ethtool(8) that has the kernel's own
// name.
func checkAgainstTool(t *testing.T, ref string, got map[string]Feature) {
	t.Helper()
	out, err := exec.Command("ip", "netns", "exec", ref, "ethtool", "-k", "a").Output()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		f, known := got[name]
		if !known {
			continue
		}
		compared++
		if on := strings.HasPrefix(value, "on"); on != f.On || strings.Contains(value, "[fixed]") != f.Fixed {
			t.Errorf("%s: ethtool says %q, read %+v", name, value, f)
		}
	}
	if compared < 20 {
		t.Errorf("compared %d features with ethtool's:\n%s", compared, out)
	}
}

func TestStatistics(t *testing.T) {
	_, s := pair(t)
	stats, err := s.Statistics("a")
	if _, has := stats["peer_ifindex"]; err != nil || !has || stats["peer_ifindex"] == 0 {
		t.Errorf("a veth's counters: %v, %v", stats, err)
	}
	if stats, err := s.Statistics("lo"); err == nil && len(stats) > 0 {
		t.Errorf("the loopback's counters: %v", stats)
	}
}

func TestParseFeatures(t *testing.T) {
	names := make([]string, 33)
	names[0], names[1], names[32] = "zero", "one", "far"
	blocks := make([]byte, 2*blockSize)
	native.PutUint32(blocks[0:], 0b11)          // can be changed
	native.PutUint32(blocks[8:], 0b01)          // on
	native.PutUint32(blocks[12:], 0b10)         // never changes
	native.PutUint32(blocks[blockSize+8:], 0b1) // on, and cannot be changed
	want := []Feature{{"zero", true, false}, {"one", false, true}, {"far", true, true}}
	if got := parseFeatures(names, blocks); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
