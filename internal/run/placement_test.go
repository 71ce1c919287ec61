package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// ends of the CPUs that a test may use, and all but the last.
func someCPUs(t *testing.T) (first, last string, rest string) {
	t.Helper()
	nstest.Require(t, feature.CPUCount)
	all := machine().AllowedCPUs()
	return strconv.Itoa(all[0]), strconv.Itoa(all[len(all)-1]), words.Ranges(all[:len(all)-1])
}

const sleeper = "functions:\n- {name: proxy, kind: command, command: {args: [sleep, \"1000\"], ready: {command: [\"true\"]}}}\n"

// TestPlacementIsTheKernels: programs, the load and softirqs are where the kernel says, which
// is stored with the trials.
func TestPlacementIsTheKernels(t *testing.T) {
	if !nstest.Alone(t) { // chains of others may have these CPUs
		return
	}
	first, last, rest := someCPUs(t)
	b := newBed(t, sleeper+"placement: {functions: exclusive, softirqs: {shared: "+first+"}}\n")
	direct := false
	l := load(1, trial.Latency)
	l.Direct = &direct
	m, r := b.measurement(l, tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		return sampledOn(ctx, job, rest, rest, func() { b.seen(last, first) })
	}})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	on := map[string]string{}
	for _, p := range b.stored(r.ID).Trials[0].Observed.Processes {
		on[p.Node] = p.CPUs
	}
	if on["proxy"] != last {
		t.Errorf("stored: %v, want %s for the proxy", on, last)
	}
}

// TestLoadAlone has each end of the load on a CPU of its own.
func TestLoadAlone(t *testing.T) {
	if !nstest.Alone(t) { // chains of others may have these CPUs
		return
	}
	someCPUs(t)
	b := newBed(t, "functions:\n- {name: a, kind: forward}\nplacement: {load: exclusive}\n")
	all := machine().AllowedCPUs()
	client, server := all[len(all)-2], all[len(all)-1]
	l, err := run.Placed(b.chain, load(1, trial.Latency))
	if err != nil {
		t.Fatal(err)
	}
	m, r := b.measurement(l, tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		return sampledOn(ctx, job, strconv.Itoa(client), strconv.Itoa(server), func() {})
	}})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if got := b.stored(r.ID).Conditions[0].Affinity; got != "exclusive" {
		t.Errorf("the condition has affinity %q", got)
	}
	l.Affinity = "0"
	if _, err := run.Placed(b.chain, l); err == nil || !strings.Contains(err.Error(), "placement") {
		t.Errorf("two places for one load: error %v", err)
	}
}

// TestSwitchDaemonsKeepOff the CPU that a program has to itself. Where the placement changes
// they are moved, and the switches stay as they are.
func TestSwitchDaemonsKeepOff(t *testing.T) {
	if !nstest.Alone(t) { // chains of others may have these CPUs
		return
	}
	_, last, rest := someCPUs(t)
	nstest.Require(t, feature.ToolOVS, feature.Tun)
	const wired = "wiring: ovs\novs: {datapath: netdev}\n" + sleeper
	b := newBed(t, wired+"placement: {functions: exclusive}\n")
	b.up(run.UpOptions{})
	daemons := b.daemonsOn(rest)
	for _, c := range []struct{ placement, on string }{
		{"placement: {softirqs: {shared: " + last + "}}\n", last}, {"", words.Ranges(machine().AllowedCPUs())}, {"placement: {functions: exclusive}\n", rest},
	} {
		b.chain = plantest.Chain(t, b.name(), wired+c.placement)
		for _, again := range []bool{false, true} {
			_, changes, err := b.edit(context.Background(), run.UpOptions{})
			if err != nil || again != (len(changes) == 0) {
				t.Errorf("%q, again %t: changes %v, error %v", c.placement, again, changes, err)
			}
			if now := b.daemonsOn(c.on); !slices.Equal(now, daemons) {
				t.Errorf("%q: the daemons were processes %v and are %v", c.placement, daemons, now)
			}
		}
	}
}

// daemonsOn fails the test unless every thread of the switches' daemons may run on these CPUs
// alone; it gives the processes.
func (b *bed) daemonsOn(cpus string) []int {
	b.Helper()
	own := namespace.Name(b.name(), plan.WiringNode)
	living, err := netns.Processes([]string{own})
	if err != nil || len(living[own]) != 2 {
		b.Fatalf("processes %v, error %v", living, err)
	}
	for _, pid := range living[own] {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		for _, task := range tasks {
			if text, err := os.ReadFile(task); err == nil && !strings.Contains(string(text), "Cpus_allowed_list:\t"+cpus+"\n") {
				b.Errorf("%s is not on %s", task, cpus)
			}
		}
	}
	slices.Sort(living[own])
	return living[own]
}

// sampledOn measures nothing, with a process at each end that must be on these CPUs.
func sampledOn(ctx context.Context, job traffic.Job, client, server string, meanwhile func()) (traffic.Sample, error) {
	for _, end := range []struct {
		start func(context.Context, ...string) (*traffic.Process, error)
		want  string
	}{{job.StartClient, client}, {job.StartServer, server}} {
		p, err := end.start(ctx, "grep", "Cpus_allowed_list", "/proc/self/status")
		if err != nil {
			return traffic.Sample{}, err
		}
		if err := p.Wait(ctx); err != nil {
			return traffic.Sample{}, err
		}
		if got := strings.Fields(string(p.Stdout())); len(got) != 2 || got[1] != end.want {
			return traffic.Sample{}, fmt.Errorf("%s is on %v, not on %s", p, got, end.want)
		}
	}
	meanwhile()
	return sampled(ctx, job)
}

// seen fails the test unless the proxy's program and the chain's softirqs are on these.
func (b *bed) seen(program, softirqs string) {
	b.Helper()
	ns := namespace.Name(b.name(), "proxy")
	found, err := process.FindIn(b.name(), ns)
	if err != nil || len(found) == 0 {
		b.Errorf("programs %v, error %v", found, err)
	}
	for _, f := range found {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", f.PID))
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			if !strings.Contains(string(text), "Cpus_allowed_list:\t"+program+"\n") {
				b.Errorf("%s is not on %s", task, program)
			}
		}
	}
	sys, err := netns.OpenSysfs(ns)
	if err != nil {
		b.Fatal(err)
	}
	defer sys.Close()
	cpu, _ := strconv.Atoi(softirqs)
	for _, device := range []string{"eth0", "eth1"} {
		mask, err := sys.Read("class/net/" + device + "/queues/rx-0/rps_cpus")
		words := strings.Split(mask, ",")
		slices.Reverse(words)
		word, _ := strconv.ParseUint(words[cpu/32], 16, 32)
		if err != nil || word != 1<<(cpu%32) {
			b.Errorf("rps of %s: %q, error %v, want CPU %d", device, mask, err, cpu)
		}
	}
}

// TestProgramThatBindsItself is not where the plan says, and that is said.
func TestProgramThatBindsItself(t *testing.T) {
	if !nstest.Alone(t) { // chains of others may have these CPUs
		return
	}
	first, last, _ := someCPUs(t)
	bound := filepath.Join(t.TempDir(), "bound")
	b := newBed(t, fmt.Sprintf(`functions:
- name: proxy
  kind: command
  command: {args: [sh, -c, "taskset -pc %s $$; touch %s; exec sleep 1000"], ready: {command: [test, -e, %s], timeout: 1m}}
placement: {functions: {shared: %s}}
`, first, bound, bound, last))
	t.Cleanup(b.down)
	_, _, err := b.edit(context.Background(), run.UpOptions{Wait: true})
	if err == nil || !strings.Contains(err.Error(), "may run on CPUs "+first+", and was given "+last) {
		t.Errorf("error %v", err)
	}
}

// TestMemoryNodesOfThisMachine: there is nothing to choose on a machine of one; on another
// the program is where the plan says, which Up reads back.
func TestMemoryNodesOfThisMachine(t *testing.T) {
	b := newBed(t, sleeper+"placement: {numa: different}\n")
	several := 0
	for _, cpus := range machine().MemoryNodes() {
		if slices.ContainsFunc(cpus, func(cpu int) bool { return slices.Contains(machine().AllowedCPUs(), cpu) }) {
			several++
		}
	}
	t.Cleanup(b.down)
	_, _, err := b.edit(context.Background(), run.UpOptions{Wait: true})
	if several > 1 && err != nil || several <= 1 && (err == nil || !strings.Contains(err.Error(), "placement.numa: this machine")) {
		t.Errorf("%d nodes: error %v", several, err)
	}
	if several <= 1 {
		b.gone()
	}
}

// TestCPUsOfOthers: no chain has the CPU that another has to itself, and who asks for one more is told who has them. A chain keeps its own
// when others come and go, and one that is down has none.
func TestCPUsOfOthers(t *testing.T) {
	if !nstest.Alone(t) {
		return
	}
	someCPUs(t)
	const alone = sleeper + "placement: {functions: exclusive}\n"
	var chains []*bed
	var cpus []int
	for range machine().AllowedCPUs() {
		b := newBed(t, alone)
		b.up(run.UpOptions{Wait: true})
		chains, cpus = append(chains, b), append(cpus, b.ownCPU())
	}
	if slices.Sort(cpus); !slices.Equal(cpus, machine().AllowedCPUs()) {
		t.Errorf("%d chains have CPUs %v to themselves", len(chains), cpus)
	}
	for spec, want := range map[string]string{
		alone: chains[0].name() + " has " + strconv.Itoa(chains[0].ownCPU()),
		"functions: [{name: a, kind: forward}]\nplacement: {softirqs: {shared: " + strconv.Itoa(chains[0].ownCPU()) + "}}\n": "is proxy's of " + chains[0].name() + " alone",
	} {
		b := newBed(t, spec)
		if _, _, err := b.edit(context.Background(), run.UpOptions{}); err == nil || !strings.Contains(err.Error(), want) || !feature.NotHere(err) {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
		b.gone()
	}
	freed := chains[1].ownCPU()
	if _, err := chains[1].host.Down(context.Background(), chains[1].name()); err != nil {
		t.Fatal(err)
	}
	if _, changes, err := chains[0].edit(context.Background(), run.UpOptions{}); err != nil || len(changes) > 0 {
		t.Errorf("up again changes %v, error %v", changes, err)
	}
	b := newBed(t, alone)
	b.up(run.UpOptions{Wait: true})
	if got := b.ownCPU(); got != freed {
		t.Errorf("CPU %d is free, and it has %d", freed, got)
	}
	b.chain = plantest.Chain(t, b.name(), sleeper)
	if _, _, err := b.edit(context.Background(), run.UpOptions{}); err != nil {
		t.Fatal(err)
	}
	if given, err := deploy.Given(b.name()); err != nil || !given.Empty() {
		t.Errorf("without a placement it has %+v, error %v", given, err)
	}
}

// ownCPU is the one that the chain's proxy has to itself, as the kernel and what others are told have it.
func (b *bed) ownCPU() int {
	b.Helper()
	given, err := deploy.Given(b.name())
	if err != nil {
		b.Fatal(err)
	}
	cpu, has := given.Own["proxy"]
	found, err := process.FindIn(b.name(), namespace.Name(b.name(), "proxy"))
	if !has || err != nil || len(found) == 0 {
		b.Fatalf("given %+v, programs %v, error %v", given, found, err)
	}
	for _, f := range found {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.PID))
		if err != nil || !strings.Contains(string(text), fmt.Sprintf("Cpus_allowed_list:\t%d\n", cpu)) {
			b.Errorf("process %d is not on CPU %d, error %v", f.PID, cpu, err)
		}
	}
	return cpu
}

// TestCPUsRemembered: a CPU that nfchain is not given any more is refused to what is to be made, and not to what was.
func TestCPUsRemembered(t *testing.T) {
	nstest.Root(t)
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "sys/devices/system/cpu"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "sys/devices/system/cpu/online"), []byte("0-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHost()
	h.Features = feature.Probe(t.Context(), feature.Env{Files: procfs.Root(root)})
	chain := plantest.Chain(t, nstest.Owner(t), "functions: [{name: proxy, kind: command, command: {args: [sleep]}, resources: {cpus: \"2\"}}]\nplacement: {load: {shared: 3}}\n")
	alone := plantest.Function(t, nstest.Owner(t), "kind: command\ncommand: {args: [sleep]}\nresources: {cpus: \"2\"}\n")
	for _, file := range []*api.File{{Chains: []api.Chain{chain}}, {Functions: []api.StandaloneFunction{alone}}} {
		if _, err := run.Planned(h, file, run.Remembered{}); err != nil {
			t.Error(err)
		}
	}
	_, inChain := h.Plan(chain, nil, plan.Options{})
	_, byItself := h.PlanFunction(alone)
	for what, err := range map[string]error{"chain": inChain, "function": byItself} {
		if err == nil || !strings.Contains(err.Error(), "there is no CPU ") || !feature.NotHere(err) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
