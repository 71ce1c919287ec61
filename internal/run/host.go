// Package run is the loop that acts: it brings chains up and down, asks the pure
// packages for the next trial, runs it and stores it.
package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Host is this machine, with everything a run needs of it.
type Host struct {
	Catalogue plan.Catalogue
	Words     api.Catalogue
	Features  feature.Set
	// Progress is told what is being done; it may be nil.
	Progress func(what string, done, total int)
	// Say is told what a person should know at once, a line at a time.
	Say func(format string, args ...any)
}

// addressLock is held while a chain chooses its addresses and takes them, so that
// two chains never choose the same. Its name is no chain's.
const addressLock = "/addresses"

// Lock takes a chain for this process; see [deploy.Acquire].
func (h *Host) Lock(ctx context.Context, name string) (*deploy.Lock, error) {
	return deploy.Acquire(ctx, name, func(pid int) {
		h.Say("waiting for another nfchain process (%d) to finish with %s", pid, strings.TrimPrefix(name, "/"))
	})
}

// Plan makes the plan of a chain with what this machine is now. Functions that
// stand alone are looked for in alone and then among those that are up.
func (h *Host) Plan(chain api.Chain, alone []api.StandaloneFunction, o plan.Options) (*plan.Plan, error) {
	facts, err := deploy.Facts(chain)
	if err != nil {
		return nil, err
	}
	facts.Functions = map[string]api.FunctionBody{}
	for _, f := range chain.Spec.Functions {
		if f.Ref == "" {
			continue
		}
		if body, ok := h.standalone(f.Ref, alone); ok {
			facts.Functions[f.Ref] = body
		}
	}
	return plan.Make(chain, h.Catalogue, facts, o)
}

func (h *Host) standalone(name string, alone []api.StandaloneFunction) (api.FunctionBody, bool) {
	for _, f := range alone {
		if f.Metadata.Name == name {
			return f.Spec, true
		}
	}
	if !netns.Exists(namespace.Alone(name)) {
		return api.FunctionBody{}, false
	}
	file, err := h.Recall(name)
	if err != nil || len(file.Functions) == 0 {
		return api.FunctionBody{}, false
	}
	return file.Functions[0].Spec, true
}

// Remembered is what is kept of a chain while it is up.
type Remembered struct {
	// Document is the chain or function, as JSON.
	Document json.RawMessage `json:"document"`
	// Temporary chains are made by bench and removed by it.
	Temporary bool `json:"temporary"`
}

// Recall reads what a chain or standalone function was made from.
func (h *Host) Recall(name string) (*api.File, error) {
	r, err := remembered(name)
	if err != nil {
		return nil, err
	}
	return h.Words.Decode(name, r.Document)
}

func remembered(name string) (r Remembered, err error) {
	text, err := deploy.Recall(name)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

func remember(name string, document any, temporary bool) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	text, err = json.Marshal(Remembered{text, temporary})
	if err != nil {
		return err
	}
	return deploy.Remember(name, text)
}

// UpOptions of bringing a chain up.
type UpOptions struct {
	plan.Options
	Alone     []api.StandaloneFunction
	Temporary bool
	// Wait until every function is ready.
	Wait   bool
	DryRun bool
}

// Up makes a chain what it should be. The caller holds its lock.
func (h *Host) Up(ctx context.Context, chain api.Chain, o UpOptions) (*plan.Plan, []resource.Change, error) {
	addresses, err := h.Lock(ctx, addressLock)
	if err != nil {
		return nil, nil, err
	}
	defer addresses.Release()
	p, err := h.Plan(chain, o.Alone, o.Options)
	if err != nil {
		return nil, nil, err
	}
	if err := h.check(p, chain); err != nil {
		return p, nil, err
	}
	if !o.DryRun {
		if err := remember(chain.Metadata.Name, chain, o.Temporary); err != nil {
			return p, nil, err
		}
	}
	changes, err := h.deploy(ctx, p, o)
	return p, changes, err
}

func (h *Host) deploy(ctx context.Context, p *plan.Plan, o UpOptions) ([]resource.Change, error) {
	d := &deploy.Deployer{Progress: h.Progress, DryRun: o.DryRun}
	changes, err := d.Up(ctx, p)
	if err != nil {
		return changes, err
	}
	if o.Wait && !o.DryRun {
		err = h.waitReady(ctx, p.Chain)
	}
	return changes, err
}

// check refuses a plan that this machine cannot carry out, before anything is
// made.
func (h *Host) check(p *plan.Plan, chain api.Chain) error {
	if err := h.Features.Missing(p.Requires...); err != nil {
		return err
	}
	for _, e := range chain.Spec.Endpoints {
		if e.Namespace != "" && !netns.Exists(e.Namespace) {
			return fmt.Errorf("endpoint %s: there is no network namespace %q; `ip netns list` shows those there are: %w", e.Name, e.Namespace, ErrInput)
		}
	}
	for _, f := range chain.Spec.Functions {
		if f.Ref == "" {
			continue
		}
		if err := notShared(f.Ref, chain.Metadata.Name); err != nil {
			return err
		}
	}
	return nil
}

// ErrInput marks errors that lie in what the user gave.
var ErrInput = errors.New("wrong input")

// notShared refuses a standalone function that another chain already goes through.
func notShared(function, chain string) error {
	ns := namespace.Alone(function)
	if !netns.Exists(ns) {
		return nil
	}
	h, err := netns.Open(ns)
	if err != nil {
		return err
	}
	defer h.Close()
	owners, err := link.Owners(h)
	if err != nil {
		return err
	}
	for _, o := range owners {
		if o != chain {
			return fmt.Errorf("function %s is in use by chain %s; wiring veth cannot share a function between chains yet: %w", function, o, ErrInput)
		}
	}
	return nil
}

// UpFunction makes a standalone function what it should be. The caller holds its
// lock.
func (h *Host) UpFunction(ctx context.Context, f api.StandaloneFunction, o UpOptions) ([]resource.Change, error) {
	p, err := plan.MakeFunction(f, h.Catalogue)
	if err != nil {
		return nil, err
	}
	if err := h.Features.Missing(p.Requires...); err != nil {
		return nil, err
	}
	if !o.DryRun {
		if err := remember(f.Metadata.Name, f, false); err != nil {
			return nil, err
		}
	}
	return h.deploy(ctx, p, o)
}

// Down removes a chain or standalone function. The caller holds its lock.
func (h *Host) Down(ctx context.Context, name string) (int, error) {
	d := &deploy.Deployer{Progress: h.Progress}
	return d.Down(ctx, name)
}

// waitReady waits until every program of a chain is ready, or one cannot become so.
func (h *Host) waitReady(ctx context.Context, name string) error {
	for {
		statuses, err := process.Statuses(name)
		if err != nil {
			return err
		}
		ready := true
		for _, s := range statuses {
			if err := failing(name, s); err != nil {
				return err
			}
			ready = ready && s.State == process.Running
		}
		if ready {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("interrupted: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// failures in a row after which a program is taken to be broken.
const failures = 3

// failing tells why a program will not become ready.
func failing(owner string, s process.Status) error {
	if s.State == process.Running || s.State != process.Ended && !s.Late && s.Failures < failures {
		return nil
	}
	return fmt.Errorf("function %s is not ready: its program %s%s", s.Node, s.Message, lastWords(owner, s.Node))
}

// lastWords is the end of a program's log, for an error.
func lastWords(owner, node string) string {
	text, err := os.ReadFile(deploy.LogFile(owner, node))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil || len(text) == 0 {
		return "; its log is empty"
	}
	return fmt.Sprintf("; its log ends with %q (see `nfchain logs %s %s`)", lines[len(lines)-1], owner, node)
}

// Live is a chain or standalone function of which something is there.
type Live struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// State is up, or partial when something of it is missing.
	State     string `json:"state"`
	Wiring    string `json:"wiring,omitempty"`
	Functions int    `json:"functions"`
	// Namespaces that are there.
	Namespaces int  `json:"namespaces"`
	Temporary  bool `json:"temporary"`
}

// List finds everything that is there.
func (h *Host) List() ([]Live, error) {
	owners, err := deploy.Owners()
	if err != nil {
		return nil, err
	}
	list := []Live{}
	for _, name := range owners {
		nodes, err := deploy.Nodes(name)
		if err != nil {
			return nil, err
		}
		live := Live{Name: name, Kind: "chain", State: "partial", Namespaces: len(nodes)}
		if r, err := remembered(name); err == nil {
			live.Temporary = r.Temporary
		}
		if file, err := h.Recall(name); err == nil {
			h.describe(&live, file)
		}
		list = append(list, live)
	}
	return list, nil
}

func (h *Host) describe(live *Live, file *api.File) {
	if len(file.Functions) > 0 {
		live.Kind, live.Functions = "function", 1
		if live.Namespaces == 1 {
			live.State = "up"
		}
		return
	}
	chain := file.Chains[0]
	live.Wiring, live.Functions = chain.Spec.Wiring, len(chain.Spec.Functions)
	want := 0
	for _, e := range chain.Spec.Endpoints {
		if e.Namespace == "" {
			want++
		}
	}
	for _, f := range chain.Spec.Functions {
		if f.Ref == "" {
			want++
		}
	}
	if live.Namespaces == want {
		live.State = "up"
	}
}

// ErrUnknown is returned for a name of which nothing is there.
var ErrUnknown = errors.New("there is no such chain")

// Chain recalls a chain that is up, or was.
func (h *Host) Chain(name string) (api.Chain, error) {
	file, err := h.Recall(name)
	if errors.Is(err, fs.ErrNotExist) {
		return api.Chain{}, fmt.Errorf("%q: %w; `nfchain ls` shows those there are", name, ErrUnknown)
	}
	if err != nil {
		return api.Chain{}, err
	}
	if len(file.Chains) == 0 {
		return api.Chain{}, fmt.Errorf("%q is a standalone function, not a chain: %w", name, ErrUnknown)
	}
	return file.Chains[0], nil
}

// HostsFile writes the names that resolve in a node and gives the file's path.
func HostsFile(p *plan.Plan, node string) (string, error) {
	var lines []process.HostLine
	for _, h := range p.Hosts(node) {
		lines = append(lines, process.HostLine(h))
	}
	return WriteHosts(p.Chain, node, lines)
}

// WriteHosts writes a node's hosts file, whole or not at all.
func WriteHosts(owner, node string, lines []process.HostLine) (string, error) {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s\n", l.Address, l.Name)
	}
	path := filepath.Join(deploy.StateDir(owner), node+".hosts")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(part, []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(part, path)
}

// Standalone refuses a chain that refers to functions which are not up: bench
// removes what it made, and must not decide over a function that outlives chains.
func (h *Host) Standalone(chain api.Chain, alone []api.StandaloneFunction) error {
	for _, f := range chain.Spec.Functions {
		if f.Ref != "" && !netns.Exists(namespace.Alone(f.Ref)) {
			return fmt.Errorf("function %s refers to %s, which is not up; bring it up with `nfchain up` first: %w", f.Name, f.Ref, ErrInput)
		}
	}
	return nil
}
