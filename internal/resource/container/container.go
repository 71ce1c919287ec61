// Package container makes containers, by an engine of this machine, and gives the network namespace of each a name,
// so that whatever is made in namespaces is made in them.
package container

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// KindName of containers in a plan.
const KindName = "container"

// Spec of a container.
type Spec struct {
	// Engine that has it.
	Engine string `json:"engine"`
	// Node is the function that it is, and Name its own, which its network namespace has too.
	Node string `json:"node"`
	Name string `json:"name"`
	// Image is empty where the function is the kernel's work alone, and nothing is to run.
	Image string   `json:"image"`
	Pull  string   `json:"pull,omitempty"`
	Args  []string `json:"args,omitempty"`
	Env   []string `json:"env,omitempty"`
	Dir   string   `json:"dir,omitempty"`
	User  string   `json:"user,omitempty"`
	// Mounts of the host's files.
	Mounts []engine.Mount `json:"mounts,omitempty"`
	// Capabilities that it has and no others; nil is those that the engine gives.
	Capabilities *[]string `json:"capabilities,omitempty"`
	ReadOnly     bool      `json:"read_only,omitempty"`
	CPUs         string    `json:"cpus,omitempty"`
	MemoryNodes  []int     `json:"memory_nodes,omitempty"`
	MemoryBytes  uint64    `json:"memory_bytes,omitempty"`
	// Hosts are names that it knows, each NAME:ADDRESS.
	Hosts []string `json:"hosts,omitempty"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the container's name.
func (s Spec) Key() string { return s.Name }

// Fingerprint is a digest of the whole spec, which the container's label gives back.
func (s Spec) Fingerprint() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Spec is plain data
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Commands implements resource.Spec: the script has nfchain make it.
func (Spec) Commands(string) []resource.Command { return nil }

func (s Spec) wanted(owner, program string) engine.Wanted {
	args := s.Args
	if s.Image == "" {
		args = engine.Resting()
	}
	w := engine.Wanted{
		Owner: owner, Node: s.Node, Name: s.Name, Digest: s.Fingerprint(), Image: s.Image, Pull: s.Pull, Args: args, Env: s.Env, Dir: s.Dir,
		User: s.User, Mounts: s.Mounts, ReadOnly: s.ReadOnly, CPUs: s.CPUs, MemoryNodes: s.MemoryNodes, MemoryBytes: int64(s.MemoryBytes),
		Hosts: s.Hosts, Program: program,
	}
	if s.Capabilities != nil {
		w.Capabilities = append([]string{}, *s.Capabilities...)
	}
	return w
}

// Kind makes containers.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// What is found in place of a container's digest, so that it is started again, or made again.
const (
	// Ended containers do not run.
	Ended = "does not run"
	// Unnamed ones run, and their namespace has not the name that it should have.
	Unnamed = "runs in another namespace"
)

// within is how long the engines may take to tell what there is.
const within = time.Minute

// Read implements resource.Kind. It asks every engine that answers.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	ctx, stop := context.WithTimeout(context.Background(), within)
	defer stop()
	all, err := Find(ctx, p.Owner)
	var found []resource.Observed
	for _, c := range all {
		o := resource.Observed{Key: c.Name, Fingerprint: c.Digest}
		switch {
		case c.PID == 0:
			o.Fingerprint = Ended
		case !netns.Has(c.Name, c.PID):
			o.Fingerprint = Unnamed
		}
		found = append(found, o)
	}
	return found, err
}

// Find the owner's containers, of every engine that answers.
func Find(ctx context.Context, owner string) ([]engine.Container, error) {
	var found []engine.Container
	for _, name := range engine.Names() {
		e, err := engine.Open(ctx, name)
		if errors.Is(err, engine.ErrNotThere) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all, err := e.List(ctx, owner)
		_ = e.Close()
		if err != nil {
			return nil, err
		}
		found = append(found, all...)
	}
	return found, nil
}

// Apply implements resource.Kind. One that ended is started again as it is, with what it wrote to its files, if it
// is still as it should be.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		if err := apply(context.Background(), p.Owner, c); err != nil {
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, owner string, c resource.Change) error {
	if c.Op == resource.Delete {
		return Remove(ctx, owner, c.Key)
	}
	spec := c.Spec.(Spec)
	e, err := engine.Open(ctx, spec.Engine)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	id, err := spec.made(ctx, e, owner)
	if err != nil {
		return err
	}
	is, err := e.Start(ctx, id)
	if err != nil {
		return fmt.Errorf("function %s: %w", spec.Node, err)
	}
	if is.PID == 0 {
		return fmt.Errorf("function %s: container %s %s at once; see `docker logs %s`", spec.Node, spec.Name, is.How, spec.Name)
	}
	return netns.Name(spec.Name, is.PID)
}

// made gives the container that is as it should be, made if there is none.
func (s Spec) made(ctx context.Context, e engine.Engine, owner string) (id string, err error) {
	all, err := e.List(ctx, owner)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		switch {
		case c.Name != s.Name:
		case c.Digest == s.Fingerprint():
			return c.ID, nil
		default:
			if err := e.Remove(ctx, c.ID); err != nil {
				return "", err
			}
		}
	}
	program, err := engine.Program()
	if err != nil {
		return "", err
	}
	return e.Create(ctx, s.wanted(owner, program), nil)
}

// Remove the owner's container of a name, or all where that is "". An engine that is not there is an error.
func Remove(ctx context.Context, owner, name string) error {
	for _, n := range engine.Names() {
		e, err := engine.Open(ctx, n)
		if err != nil {
			return err
		}
		err = removeFrom(ctx, e, owner, name)
		_ = e.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func removeFrom(ctx context.Context, e engine.Engine, owner, name string) error {
	all, err := e.List(ctx, owner)
	if err != nil {
		return err
	}
	gone := make(chan error, len(all))
	for _, c := range all {
		if name != "" && c.Name != name {
			gone <- nil
			continue
		}
		go func() { gone <- e.Remove(ctx, c.ID) }()
	}
	var wrong []error
	for range all {
		wrong = append(wrong, <-gone)
	}
	return errors.Join(wrong...)
}
