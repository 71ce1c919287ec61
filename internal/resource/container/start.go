package container

import (
	"context"
	"fmt"
	"strings"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
)

// joining is behind a container's name in that of the network namespace that it joins when it starts: its own name may be another's until it has
// started, by which packets go on. With a dot it is no node's, and so what somebody leaves who is killed goes with what else is
// in no plan (Joined).
const joining = ".joining"

// joined is the name of the network namespace that the container joins when it starts, where it is to have one of its own; else "".
func (s Spec) joined() string {
	if s.Beside != "" || s.Network != "" {
		return ""
	}
	return s.Name + joining
}

// Joined tells of the name of a network namespace that it is one by which a container joins it.
func Joined(name string) bool { return strings.HasSuffix(name, joining) }

// Joins tells that the container joins a network namespace of its own, where its engine has it do so.
func (s Spec) Joins() bool { return s.joined() != "" }

// join has the network namespace of a name, or with "" a new one, be what the container joins that starts now, until whoever starts it leaves.
func (s Spec) join(e engine.Engine, name string) (leave func(), err error) {
	at := s.joined()
	switch {
	case at == "" || !e.Joins():
		return func() {}, nil
	case name != "":
		err = netns.NameOf(at, name)
	default:
		if err = netns.Remove(at); err == nil {
			err = netns.Create(at, func() error { return nil })
		}
	}
	return func() { _ = netns.Remove(at) }, err
}

// Start the container, of which the first process waits for its network, and give its network namespace. One that ended is started as it is,
// with what it wrote to its files, if it is as it should be; else there is a new one, as where it is of another image than one that is given.
func (s Spec) Start(ctx context.Context, owner, image string) (*netns.Held, error) {
	return s.begin(ctx, "", func(e engine.Engine) (engine.Container, error) { return s.started(ctx, e, owner, image) })
}

// StartNew is Start of one that was looked for, and is not there.
func (s Spec) StartNew(ctx context.Context, owner, _ string) (*netns.Held, error) {
	return s.begin(ctx, "", func(e engine.Engine) (engine.Container, error) { return s.made(ctx, e, owner) })
}

// StartWithin is StartNew of one whose network namespace is there by its name, of an engine that has containers join that.
func (s Spec) StartWithin(ctx context.Context, owner, _ string) (*netns.Held, error) {
	return s.begin(ctx, s.Name, func(e engine.Engine) (engine.Container, error) { return s.made(ctx, e, owner) })
}

// begin has a container start, in a network namespace of that name where its engine has it join one: with "" in a new one.
func (s Spec) begin(ctx context.Context, in string, start func(engine.Engine) (engine.Container, error)) (*netns.Held, error) {
	e, err := engine.Open(ctx, s.Engine)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }()
	leave, err := s.join(e, in)
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", s.Node, err)
	}
	defer leave()
	is, err := start(e)
	if err == nil {
		err = s.runs(e, is)
	}
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", s.Node, err)
	}
	if s.PageBytes > 0 {
		if err := is.Furnish(ctx, s.Limits); err != nil {
			return nil, fmt.Errorf("function %s: %w", s.Node, err)
		}
	}
	its, err := netns.HeldBy(is.PID, func() bool { return still(ctx, e, is) })
	if err != nil {
		return nil, fmt.Errorf("function %s: container %s ended at once; see `%s`: %w", s.Node, s.Name, e.Reading(is), err)
	}
	return its, nil
}

// runs is an error where the container does not, by what its engine told of it when it had been started.
func (s Spec) runs(e engine.Engine, is engine.Container) error {
	switch {
	case is.PID == 0 && is.How == "":
		return fmt.Errorf("container %s was started, and %s says neither that it runs nor how it ended; see `%s`, and run the command again", s.Name, e.Name(), e.Reading(is))
	case is.PID == 0:
		return fmt.Errorf("container %s %s at once; see `%s`", s.Name, is.How, e.Reading(is))
	case !engine.Is(is.PID, is.ID):
		return fmt.Errorf("the engine at %s says that container %s is process %d, which it is not on this machine; set %s to an engine of this machine", e.Host(), s.Name, is.PID, engine.Variable(s.Engine))
	}
	return nil
}
