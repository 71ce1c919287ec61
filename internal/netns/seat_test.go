package netns_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
)

// TestStartAt: a process has its seat from its first instruction on, and its starter has
// not.
func TestStartAt(t *testing.T) {
	if _, err := os.Stat("/proc/self/numa_maps"); err != nil {
		return // a kernel without memory nodes has no seats in them, which Check leaves alone
	}
	seat := netns.Seat{Cores: []int{0}, Memory: []int{0}}
	cmd := exec.Command("sleep", "1000")
	if err := netns.StartAt(netns.Host, cmd, seat); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if err := seat.Check(cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	if err := (netns.Seat{Memory: []int{0, 1, 3}}).Check(cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), "bind:0-1,3") {
		t.Errorf("another seat: error %v", err)
	}
	other := exec.Command("sleep", "1000")
	if err := netns.Start(netns.Host, other); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	if err := seat.Check(other.Process.Pid); err == nil {
		t.Error("what is started after it has its seat too")
	}
	if err := netns.StartAt(netns.Host, exec.Command("true"), netns.Seat{Memory: []int{1000}}); err == nil {
		t.Error("memory of a node that is not there")
	}
}
