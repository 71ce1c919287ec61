package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// bench measures the chain given as JSON, into the results given, with a tool that
// never ends: it says so and waits to be killed.
func bench(args []string) error {
	var chain api.Chain
	file, err := newHost().Words.Decode("test", []byte(args[0]))
	if err != nil {
		return err
	}
	chain = file.Chains[0]
	store, err := results.Open(args[1])
	if err != nil {
		return err
	}
	m := &run.Measurement{Host: newHost(), Store: store, Keep: args[2] == "keep", Now: time.Now, Tools: []traffic.Tool{tool{
		func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
			p, err := job.StartServer(ctx, "sh", "-c", "sleep 1000 & setsid sleep 1000")
			if err != nil {
				return traffic.Sample{}, err
			}
			time.Sleep(100 * time.Millisecond)
			_, _ = os.Stdout.WriteString("measuring\n")
			return traffic.Sample{}, p.Wait(ctx)
		}}}}
	r := trial.Run{SchemaVersion: trial.SchemaVersion, ID: "20260101-000000-killed", Chain: chain.Metadata.Name, State: trial.Running, Repeats: 1}
	r.Conditions, err = run.Conditions(load(1, trial.TCP), len(chain.Spec.Functions)+2, nil, m.Tools, m.Host.Features)
	if err != nil {
		return err
	}
	for range r.Conditions {
		m.Chains = append(m.Chains, chain)
	}
	if err := store.CreateRun(context.Background(), r); err != nil {
		return err
	}
	return m.Run(context.Background(), &r)
}

// killBench starts a bench and kills it amid a trial. What its tool started is gone
// with it.
func (b *bed) killBench(keep string) {
	b.Helper()
	text, err := json.Marshal(b.chain)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "bench", string(text), b.db, keep)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil || line != "measuring\n" {
		b.Fatalf("%q, error %v", line, err)
	}
	nodes, err := deploy.Nodes(b.name())
	if err != nil {
		b.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		found, err := netns.Processes(nodes)
		if err != nil {
			b.Fatal(err)
		}
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			b.Errorf("processes are left: %v", found)
			return
		}
	}
}

// live is what there is of the chain.
func (b *bed) live() (run.Live, bool) {
	b.Helper()
	list, err := b.host.List(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	for _, l := range list {
		if l.Name == b.name() {
			return l, true
		}
	}
	return run.Live{}, false
}

// TestKilled: what a killed bench left is listed, taken over by the next bench,
// and removed.
func TestKilled(t *testing.T) {
	b := newBed(t, plantest.Forwards(2))
	t.Cleanup(b.down)
	b.killBench("temporary")
	if l, there := b.live(); !there || !l.Temporary || l.State != "up" || l.Namespaces != 4 {
		t.Errorf("%+v", l)
	}
	m, r := b.measurement(load(1, trial.TCP), tool{sampled})
	if err := m.Run(context.Background(), r); err != nil {
		t.Error(err)
	}
	b.gone()
	if got := b.stored("20260101-000000-killed"); got.State != trial.Interrupted {
		t.Errorf("state %s", got.State)
	}
	b.db = strings.TrimSuffix(b.db, "r.db") + "2.db"
	b.killBench("temporary")
	b.down()
}

// TestKilledOnLive: after a killed bench, the next up takes the direct hop away.
func TestKilledOnLive(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	b.up(run.UpOptions{})
	b.killBench("keep")
	if l, _ := b.live(); l.Temporary || l.State != "changed" { // it has the direct hop
		t.Errorf("%+v", l)
	}
	if !b.interfaces("client")["ethd0"] {
		t.Error("the direct hop is not there")
	}
	b.up(run.UpOptions{})
	if left := b.interfaces("client"); left["ethd0"] || !left["eth0"] {
		t.Errorf("interfaces %v", left)
	}
}
