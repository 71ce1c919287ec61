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
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
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
	// Hostname that it has, where that is not its node's name: what the chain's file calls it.
	Hostname string `json:"hostname,omitempty"`
	// Image is empty where the function is the kernel's work alone, and nothing is to run.
	Image string `json:"image"`
	// From is the path of what the image is made of, where this machine has that.
	From string   `json:"from,omitempty"`
	Pull string   `json:"pull,omitempty"`
	Args []string `json:"args,omitempty"`
	Env  []string `json:"env,omitempty"`
	Dir  string   `json:"dir,omitempty"`
	User string   `json:"user,omitempty"`
	// Mounts of the host's files.
	Mounts []engine.Mount `json:"mounts,omitempty"`
	// Capabilities that it has, and no others.
	Capabilities []string `json:"capabilities"`
	ReadOnly     bool     `json:"read_only,omitempty"`
	// Network of the engine's, by its name, that it begins with; "" is none.
	Network string `json:"network,omitempty"`
	// Publish are ports at which it is reached by the address that the machine has on that network, too.
	Publish api.PortRanges `json:"publish,omitempty"`
	// Beside is the name of another of the chain's containers, of the same engine, whose network namespace it is in; "" has its own.
	Beside string `json:"beside,omitempty"`
	// Seccomp is "", unconfined, or a profile of seccomp.
	Seccomp string `json:"seccomp,omitempty"`
	// Limits of what it may use, which can be others while it runs.
	engine.Limits
	// Names tells that it knows names; which, a Names of its node says.
	Names bool `json:"names,omitempty"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the container's name.
func (s Spec) Key() string { return s.Name }

// Fingerprint is its digest, and the limits of what it may use, as its engine tells them.
func (s Spec) Fingerprint() string { return limited(s.Digest(), s.Limits) }

// Digest is the image, if there is one, and a sum of what else the container is made from, which its label gives back.
// Where an image of this content came from is no matter.
func (s Spec) Digest() string {
	s.From, s.Pull, s.Limits = "", "", engine.Limits{PageBytes: s.PageBytes} // that is how it comes to be there, and what may be other later
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Spec is plain data
	}
	sum := sha256.Sum256(text)
	return strings.TrimPrefix(s.Image+" ", " ") + hex.EncodeToString(sum[:8])
}

// limits stands before those in a fingerprint.
const limits = ", at most "

// limited is the fingerprint of a container of a digest.
func limited(digest string, l engine.Limits) string {
	if text := l.String(); text != "" {
		return digest + limits + text
	}
	return digest
}

// Limited tells of a change that it is one of what a container may use, and of nothing else: it goes on running.
func Limited(c resource.Change) bool {
	s, is := c.Spec.(Spec)
	digest, _, _ := strings.Cut(c.Was, limits)
	return is && c.Op == resource.Update && digest == s.Digest() && c.Was != s.Fingerprint()
}

// Commands implements resource.Spec: the script has nfchain make it.
func (Spec) Commands(string) []resource.Command { return nil }

func (s Spec) wanted(owner, program string) engine.Wanted {
	args := s.Args
	if s.Image == "" {
		args = engine.Resting()
	}
	w := engine.Wanted{
		Owner: owner, Node: s.Node, Hostname: s.Hostname, Name: s.Name, Digest: s.Digest(), Image: s.Image, From: s.From, Pull: s.Pull, Args: args, Env: s.Env, Dir: s.Dir,
		User: s.User, Mounts: s.Mounts, ReadOnly: s.ReadOnly, Seccomp: s.Seccomp, Limits: s.Limits,
		Capabilities: s.Capabilities, Program: program, Network: s.Network, Publish: s.Publish, Beside: s.Beside,
	}
	if s.Names {
		w.Mounts = append(slices.Clip(w.Mounts), engine.Mount{Source: namesFile(owner, s.Node), Target: NamesAt, ReadOnly: true})
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
	all, err := Find(context.Background(), p.Owner)
	return Observe(all), err
}

// Observe containers as they are.
func Observe(all []engine.Container) (found []resource.Observed) {
	for _, c := range all {
		whole := limited(c.Digest, c.Limits)
		o := resource.Observed{Key: c.Name, Fingerprint: whole}
		switch {
		case c.PID == 0:
			o.Fingerprint = Ended
		case c.Hosted: // whose namespace needs no name
		case !netns.Has(c.Name, c.PID) || strays(c):
			o.Fingerprint = Unnamed
		}
		at := slices.IndexFunc(found, func(other resource.Observed) bool { return other.Key == o.Key })
		switch {
		case at < 0:
			found = append(found, o)
		case o.Fingerprint == whole:
			found[at] = o // two engines have it, and this one's is the function now
		}
	}
	return found
}

// strays tells of a container that is to be in another's network namespace that it is not: that is of one from before.
func strays(c engine.Container) bool {
	return c.Beside != "" && c.PID != 0 && !netns.Has(c.Beside, c.PID)
}

// Processes of the container that live in its network namespace.
func (s Spec) Processes(ctx context.Context, owner string) (pids []int, err error) {
	all, err := FindIn(ctx, []string{s.Engine}, owner)
	if err != nil {
		return nil, err
	}
	at := s.Name
	if s.Hosted() {
		at = netns.Host
	}
	living, err := netns.Processes([]string{at})
	for _, c := range all {
		for _, pid := range living[at] {
			if c.Name == s.Name && engine.Within(pid, c.ID) {
				pids = append(pids, pid)
			}
		}
	}
	return pids, err
}

// Find the owner's containers, or with "" those of all owners, of every engine that answers.
func Find(ctx context.Context, owner string) ([]engine.Container, error) {
	return FindIn(ctx, engine.Names(), owner)
}

// FindIn some engines, of which those that do not answer are left out, the owner's containers.
func FindIn(ctx context.Context, engines []string, owner string) ([]engine.Container, error) {
	ctx, stop := engine.AtMost(ctx, within)
	defer stop()
	var found []engine.Container
	for _, name := range engines {
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

// Of an engine, the owner's containers.
func Of(ctx context.Context, name, owner string) ([]engine.Container, error) {
	ctx, stop := engine.AtMost(ctx, within)
	defer stop()
	e, err := engine.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }()
	return e.List(ctx, owner)
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	ctx := context.Background()
	for _, c := range changes {
		var err error
		if c.Op == resource.Delete {
			err = removeNamed(ctx, p.Owner, c.Key)
		} else {
			err = c.Spec.(Spec).Make(ctx, p.Owner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Make the container and give its network namespace its name.
func (s Spec) Make(ctx context.Context, owner string) error {
	if _, err := s.Prepare(ctx, owner, nil); err != nil {
		return err
	}
	its, err := s.Start(ctx, owner, "")
	if err != nil {
		return err
	}
	defer its.Close()
	return s.Place(its)
}

// Hosted tells that it is in the machine's own network namespace.
func (s Spec) Hosted() bool { return s.Network == engine.HostNetwork }

// Place gives the network namespace of the container its name. The machine's own is given none, because whatever lives in a namespace of
// that name is the container's.
func (s Spec) Place(its *netns.Held) error {
	switch {
	case !s.Hosted():
		return netns.NameOf(s.Name, its.Ref())
	case !its.Called(netns.Host):
		return fmt.Errorf("function %s: the network of its engine's machine is in another namespace than this command's; run nfchain where the engine runs (nsenter --net)", s.Node)
	}
	return nil
}

// Prepare what the container is made from, and give the engine's own name of that: whatever may be missing is seen before anything
// is taken away. Progress, which may be nil, is told what is done, in words.
func (s Spec) Prepare(ctx context.Context, owner string, progress func(what string)) (image string, err error) {
	e, err := engine.Open(ctx, s.Engine)
	if err != nil {
		return "", err
	}
	defer func() { _ = e.Close() }()
	program, err := engine.Program()
	if err != nil {
		return "", err
	}
	return e.Prepare(ctx, s.wanted(owner, program), progress)
}

// still tells whether a container's first process is the one that it was when it started. One that waits in a control group of another name
// could be another container's that waits too, so that its engine is asked once more.
func still(ctx context.Context, e engine.Engine, was engine.Container) bool {
	if engine.Within(was.PID, was.ID) {
		return true
	}
	is, err := e.Inspect(ctx, was.ID)
	return err == nil && is.PID == was.PID && engine.Is(is.PID, is.ID)
}

func (s Spec) started(ctx context.Context, e engine.Engine, owner, image string) (engine.Container, error) {
	is, err := inspect(ctx, e, s.Name)
	switch {
	case errors.Is(err, engine.ErrNotThere):
	case err != nil:
		return is, err
	case is.Owner != owner:
		return is, fmt.Errorf("a container called %s is there already, and is not nfchain's; rename or remove it", s.Name)
	case is.Digest == s.Digest() && (image == "" || is.Image == image) && !strays(is):
		err := error(nil)
		if is.Limits.Kept() != s.Limits.Kept() {
			err = e.Limit(ctx, is.ID, s.Limits)
		}
		if err == nil {
			if again, err := e.Start(ctx, is.ID); err == nil {
				return again, nil
			}
		}
		// Somebody removes it at this moment, or what it begins with is elsewhere now.
		fallthrough
	default:
		if err := remove(ctx, e, is); err != nil {
			return is, err
		}
	}
	return s.made(ctx, e, owner)
}

// Mountable is an error where something of the machine's is not there that the container is to see.
func (s Spec) Mountable() error {
	for _, m := range s.Mounts {
		if _, err := os.Stat(m.Source); err != nil {
			return fmt.Errorf("function %s: container.mounts: what it is to have at %s: %w; make it, or leave that mount out", s.Node, m.Target, err)
		}
	}
	return nil
}

// toldWithin is how long an engine may take to know that a container has ended.
const toldWithin = 10 * time.Second

// inspect a container as it is: one that has just ended may run still by what its engine knows, which then starts nothing.
func inspect(ctx context.Context, e engine.Engine, name string) (is engine.Container, err error) {
	for deadline := time.Now().Add(toldWithin); ; {
		is, err = e.Inspect(ctx, name)
		if err != nil || is.PID == 0 || !engine.Over(is.PID) || time.Now().After(deadline) {
			return is, err
		}
		select {
		case <-ctx.Done():
			return is, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// made anew, and started.
func (s Spec) made(ctx context.Context, e engine.Engine, owner string) (engine.Container, error) {
	program, err := engine.Program()
	if err != nil {
		return engine.Container{}, err
	}
	w := s.wanted(owner, program)
	if e.Joins() {
		w.In = s.joined()
	}
	id, err := e.Create(ctx, w)
	if err != nil {
		return engine.Container{}, err
	}
	return e.Start(ctx, id)
}

// Limit what the container may use, as it runs.
func (s Spec) Limit(ctx context.Context) error {
	e, err := engine.Open(ctx, s.Engine)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	is, err := e.Inspect(ctx, s.Name)
	if err == nil && is.Limits.Kept() != s.Limits.Kept() {
		err = e.Limit(ctx, is.ID, s.Limits)
	}
	if err == nil && s.PageBytes > 0 && is.PID != 0 { // else it is furnished when it starts
		err = is.BoundHugepages(s.Limits)
	}
	if err != nil {
		return fmt.Errorf("function %s: %w", s.Node, err)
	}
	return nil
}

// removeNamed removes the owner's containers of a name, of every engine that answers.
func removeNamed(ctx context.Context, owner, name string) error {
	all, err := Find(ctx, owner)
	if err != nil {
		return err
	}
	return RemoveThese(ctx, owner, slices.DeleteFunc(all, func(c engine.Container) bool { return c.Name != name }))
}

// RemoveThese removes the owner's containers that are called so, each from its engine, and all of one at once: to ask an engine of a hundred
// a hundred times for all that there are takes longer than to remove them.
func RemoveThese(ctx context.Context, owner string, these []engine.Container) error {
	of := map[string][]string{}
	for _, c := range these {
		of[c.Engine] = append(of[c.Engine], c.Name)
	}
	for _, from := range slices.Sorted(maps.Keys(of)) {
		if err := Remove(ctx, from, owner, func(c engine.Container) bool { return slices.Contains(of[from], c.Name) }); err != nil {
			return err
		}
	}
	return nil
}

// All of an owner's containers.
func All(engine.Container) bool { return true }

// Remove those of the owner's containers from an engine. An engine that is not there is an error.
func Remove(ctx context.Context, from, owner string, which func(engine.Container) bool) error {
	e, err := engine.Open(ctx, from)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	return removeFrom(ctx, e, owner, which)
}

func removeFrom(ctx context.Context, e engine.Engine, owner string, which func(engine.Container) bool) error {
	all, err := e.List(ctx, owner)
	if err != nil {
		return err
	}
	var first, beside []engine.Container
	for _, c := range all {
		switch {
		case !which(c):
		case c.Beside != "": // before the one in whose network namespace it is
			beside = append(beside, c)
		default:
			first = append(first, c)
		}
	}
	return errors.Join(removeEach(ctx, e, beside), removeEach(ctx, e, first))
}

func removeEach(ctx context.Context, e engine.Engine, all []engine.Container) error {
	gone := make(chan error, len(all))
	for _, c := range all {
		go func() { gone <- remove(ctx, e, c) }()
	}
	var wrong []error
	for range all {
		wrong = append(wrong, <-gone)
	}
	return errors.Join(wrong...)
}

// remove a container, of which the program is asked to end before. Where its engine, as Podman, refuses that while another is in
// its network namespace, that one goes first: it is to be in another namespace then, and made anew.
func remove(ctx context.Context, e engine.Engine, c engine.Container) error {
	c.End(ctx)
	refused := e.Remove(ctx, c.ID)
	if refused == nil || c.Beside != "" {
		return refused
	}
	all, err := e.List(ctx, c.Owner)
	if err != nil {
		return refused
	}
	all = slices.DeleteFunc(all, func(other engine.Container) bool { return other.Beside != c.Name })
	if len(all) == 0 {
		return refused
	}
	if err := removeEach(ctx, e, all); err != nil {
		return err
	}
	return e.Remove(ctx, c.ID)
}
