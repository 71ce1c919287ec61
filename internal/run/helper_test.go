package run_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

var machine = sync.OnceValue(func() feature.Set { return feature.Probe(context.Background(), feature.Host()) })

func newHost() *run.Host {
	return &run.Host{Catalogue: registry.Plan(), Words: registry.Words(), Features: machine(), Say: func(string, ...any) {}}
}

// tool is a traffic tool of a test.
type tool struct {
	run func(context.Context, traffic.Job) (traffic.Sample, error)
}

func (tool) Name() string        { return "tool" }
func (tool) Requires() []string  { return nil }
func (tool) Protocols() []string { return []string{trial.TCP, trial.UDP, trial.Latency} }
func (t tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	return t.run(ctx, job)
}

// sampled is a tool that measures nothing, at once.
func sampled(context.Context, traffic.Job) (traffic.Sample, error) {
	return traffic.Sample{Metrics: map[string]float64{"goodput_bps": 1}}, nil
}

// bed is a chain with all that it takes to measure it.
type bed struct {
	*testing.T
	host  *run.Host
	chain api.Chain
	db    string
	store *results.Store
}

func newBed(t *testing.T, spec string) *bed {
	t.Helper()
	nstest.Root(t)
	b := &bed{T: t, host: newHost(), chain: plantest.Chain(t, nstest.Owner(t), spec), db: filepath.Join(t.TempDir(), "r.db")}
	var err error
	if b.store, err = results.Open(b.db); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.store.Close() })
	return b
}

func (b *bed) name() string { return b.chain.Metadata.Name }

// load of the protocols, each over the chain and over the direct path.
func load(repeats int, protocols ...string) api.Load {
	direct := true
	l := api.DefaultLoad()
	l.Protocols, l.Repeats, l.Duration, l.Direct = protocols, repeats, api.Duration(time.Second), &direct
	return l
}

// measurement of the chain with a tool, and its run, stored.
func (b *bed) measurement(l api.Load, with traffic.Tool) (*run.Measurement, *trial.Run) {
	b.Helper()
	conditions, err := run.Conditions(l, len(b.chain.Spec.Functions)+2, nil, []traffic.Tool{with}, b.host.Features)
	if err != nil {
		b.Fatal(err)
	}
	if err := run.Calibrate(context.Background(), conditions, []traffic.Tool{with}); err != nil {
		b.Fatal(err)
	}
	r := trial.Run{SchemaVersion: trial.SchemaVersion, ID: "20260101-000000-" + nstest.Name(b), Chain: b.name(), State: trial.Running,
		Experiment: b.name(), Spec: "spec", Seed: 7, Repeats: l.Repeats, Conditions: conditions}
	if err := b.store.CreateRun(context.Background(), r); err != nil {
		b.Fatal(err)
	}
	return b.of(with, &r), &r
}

// of is a measurement of a run.
func (b *bed) of(with traffic.Tool, r *trial.Run) *run.Measurement {
	m := &run.Measurement{Host: b.host, Store: b.store, Tools: []traffic.Tool{with}, Now: time.Now}
	for range r.Conditions {
		m.Chains = append(m.Chains, b.chain)
	}
	return m
}

// stored is the run as it was stored.
func (b *bed) stored(id string) trial.Run {
	b.Helper()
	r, err := b.store.Get(context.Background(), id)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// gone fails the test if anything of the chain is there.
func (b *bed) gone() {
	b.Helper()
	nodes, err := deploy.Nodes(b.name())
	if err != nil || len(nodes) > 0 {
		b.Errorf("left: %v, error %v", nodes, err)
	}
	if _, err := os.Stat(deploy.StateDir(b.name())); err == nil {
		b.Error("the chain's directory is left")
	}
}

// up brings the chain up for the rest of the test.
func (b *bed) up(o run.UpOptions) {
	b.Helper()
	b.Cleanup(b.down)
	if _, _, err := b.edit(context.Background(), o); err != nil {
		b.Fatal(err)
	}
}

// edit what is up to be the chain as it is now, as commands do, which hold its lock: whoever removes what is left of older paths, as a chain's
// own process does by itself, would make it again what he has read before.
func (b *bed) edit(ctx context.Context, o run.UpOptions) (*plan.Plan, []resource.Change, error) {
	b.Helper()
	lock, err := b.host.Lock(ctx, b.name())
	if err != nil {
		return nil, nil, err
	}
	defer lock.Release()
	return b.host.Up(ctx, b.chain, o)
}

func (b *bed) down() {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a test that failed may have left an edit under way
	defer cancel()
	lock, err := b.host.Lock(ctx, b.name())
	if err != nil {
		b.Fatal(err)
	}
	_, err = b.host.Down(context.Background(), b.name())
	lock.Release()
	if err != nil {
		b.Error(err)
	}
	b.gone()
}

// interfaces of a node, by name.
func (b *bed) interfaces(node string) map[string]bool {
	b.Helper()
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		b.Fatal(err)
	}
	all := map[string]bool{}
	for _, n := range p.Nodes {
		if n.Name != node {
			continue
		}
		h, err := netns.Open(n.Namespace)
		if err != nil {
			b.Fatal(err)
		}
		links, err := h.LinkList()
		h.Close()
		if err != nil {
			b.Fatal(err)
		}
		for _, l := range links {
			all[l.Attrs().Name] = true
		}
	}
	return all
}
