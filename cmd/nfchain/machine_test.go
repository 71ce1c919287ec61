package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/nstest/hosttest"
)

// The settings that the test really changes, a little.
var machineFiles = []string{"/proc/sys/net/core/netdev_max_backlog", "/proc/sys/net/core/rmem_max", "/proc/sys/net/core/wmem_max"}

const expedited = "/sys/kernel/rcu_expedited"

func machineNow(t *testing.T) (values []int) {
	t.Helper()
	for _, file := range machineFiles {
		text, err := os.ReadFile(file)
		n, notNumber := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || notNumber != nil {
			t.Fatal(err, notNumber)
		}
		values = append(values, n)
	}
	return values
}

// putBack what the machine had, should the test not have.
func putBack(t *testing.T, values []int) {
	if now := machineNow(t); !slices.Equal(now, values) {
		t.Errorf("the machine has %v, and had %v", now, values)
	}
	for i, file := range machineFiles {
		if err := os.WriteFile(file, []byte(strconv.Itoa(values[i])), 0); err != nil {
			t.Error(err)
		}
	}
}

// machineChain has the machine set to n more than it has.
func machineChain(c cli, name string, was []int, n int, more string) (file string) {
	c.t.Helper()
	file = filepath.Join(c.dir, name+strconv.Itoa(n)+".yaml")
	text := fmt.Sprintf(`apiVersion: nfchain.dev/v1alpha1
kind: NetworkServiceChain
metadata: {name: %s}
spec:
  tuning: {%snetdev_max_backlog: %d, rmem_max: %d, wmem_max: %d}
`, name, more, was[0]+n, was[1]+n, was[2]+n)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	return file
}

// refused runs a command that must fail with these words.
func (c cli) refused(words []string, args ...string) {
	c.t.Helper()
	out, err := c.command(args...).CombinedOutput()
	for _, w := range words {
		if err == nil || !strings.Contains(string(out), w) {
			c.t.Errorf("nfchain %v: error %v, without %q:\n%s", args, err, w, out)
		}
	}
}

// TestMachineSettings really changes the machine, and puts it back.
func TestMachineSettings(t *testing.T) {
	nstest.Root(t)
	hosttest.Changes(t)
	c := cli{t, built(t), t.TempDir()}
	was := machineNow(t)
	t.Cleanup(func() { putBack(t, was) })
	first, second := owned("e2e-machine"), owned("e2e-machine2")
	t.Cleanup(func() { c.must("down", first, second) })

	c.refused([]string{"tuning.netdev_max_backlog", "tuning.rmem_max", "tuning.wmem_max", "host: allow"}, "up", machineChain(c, first, was, 1, ""))
	c.has(was, 0)
	file := machineChain(c, first, was, 2, "host: allow, ")
	if out := c.must("plan", file); !strings.Contains(out, fmt.Sprintf("rmem_max  [%d]", was[1]+2)) {
		t.Errorf("the plan does not show the machine's:\n%s", out)
	}
	c.has(was, 0)
	c.must("up", file)
	c.has(was, 2)
	c.refused([]string{"chain " + first + " has set it"}, "up", machineChain(c, second, was, 3, "host: allow, "))
	c.has(was, 2)
	c.must("up", machineChain(c, first, was, 4, "host: allow, "))
	c.has(was, 4)

	if err := os.WriteFile(machineFiles[0], []byte(strconv.Itoa(was[0]+7)), 0); err != nil {
		t.Fatal(err)
	}
	if out := c.must("show", first); !strings.Contains(out, "machine:netdev_max_backlog") {
		t.Errorf("show does not tell what another has changed:\n%s", out)
	}
	c.must("up", machineChain(c, first, was, 4, "host: allow, "))
	c.has(was, 4)
	c.must("down", first)
	c.has(was, 0)
}

// TestGracePeriodsAreExpedited while a chain is up, and those of the machine again after.
func TestGracePeriodsAreExpedited(t *testing.T) {
	nstest.Root(t)
	hosttest.Changes(t)
	was, err := os.ReadFile(expedited)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.WriteFile(expedited, was, 0) })
	c := cli{t, built(t), t.TempDir()}
	name := owned("e2e-expedited")
	t.Cleanup(func() { c.must("down", name) })
	file := filepath.Join(c.dir, "expedited.yaml")
	other := strings.TrimSpace(string(was)) == "0"
	text := fmt.Sprintf("apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: %s}\nspec:\n  tuning: {host: allow, rcu_expedited: %v}\n", name, other)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c.must("up", file)
	if now, err := os.ReadFile(expedited); err != nil || strings.TrimSpace(string(now)) != map[bool]string{true: "1", false: "0"}[other] {
		t.Errorf("up of %s has left %q, error %v", text, now, err)
	}
	c.must("down", name)
	if now, err := os.ReadFile(expedited); err != nil || string(now) != string(was) {
		t.Errorf("down has left %q, and it was %q, error %v", now, was, err)
	}
}

// has fails the test unless the machine has n more than it had.
func (c cli) has(was []int, n int) {
	c.t.Helper()
	now := machineNow(c.t)
	for i := range was {
		if now[i] != was[i]+n {
			c.t.Errorf("%s is %d, want %d", machineFiles[i], now[i], was[i]+n)
		}
	}
}

// TestMachineSettingsSurviveKills kills up as soon as it has written down what the
// machine had, and at other moments after that.
func TestMachineSettingsSurviveKills(t *testing.T) {
	nstest.Root(t)
	hosttest.Changes(t)
	c := cli{t, built(t), t.TempDir()}
	was := machineNow(t)
	t.Cleanup(func() { putBack(t, was) })
	name := owned("e2e-machine")
	t.Cleanup(func() { c.must("down", name) })
	file := machineChain(c, name, was, 2, "host: allow, ")
	for round := range 5 {
		c.killOnceWritten(name, file, time.Duration(round)*time.Millisecond)
		owners, err := deploy.Owners()
		if err != nil || !slices.Contains(owners, name) {
			t.Errorf("down --all would not find %s: %v, error %v", name, owners, err)
		}
		if round%2 == 0 {
			c.must("up", file)
			c.has(was, 2)
		}
		c.must("down", name)
		c.has(was, 0)
	}
}

func (c cli) killOnceWritten(name, file string, after time.Duration) {
	c.t.Helper()
	cmd := c.command("up", file)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Microsecond) {
		if written, _ := filepath.Glob("/run/nfchain/" + name + "/machine-*"); len(written) > 0 {
			break
		}
		if time.Now().After(deadline) {
			c.t.Error("nothing is written down")
			break
		}
	}
	time.Sleep(after) // another moment each time
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
}

// TestMachineLacks what is asked for: it is refused by name before anything is made.
func TestMachineLacks(t *testing.T) {
	nstest.Root(t)
	c := cli{t, built(t), t.TempDir()}
	lacking := map[string]string{"interrupts: \"0\"": "tuning.interrupts"}
	if policies, _ := filepath.Glob("/sys/devices/system/cpu/cpufreq/policy*"); len(policies) == 0 {
		lacking["governor: performance"] = "no cpufreq"
	}
	for setting, why := range lacking {
		file := filepath.Join(c.dir, "lacks.yaml")
		text := "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: " + owned("e2e-lacks") + "}\nspec:\n  tuning: {host: allow, " + setting + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c.refused([]string{why}, "up", file)
		if left := leftovers(owned("e2e-lacks")); left != "" {
			t.Errorf("%s: left behind:\n%s", setting, left)
		}
	}
}
