// Package engine asks container engines for containers. What a container runs on its network is nfchain's: it is
// started with none of the engine's, and its first process waits until it is told that the chain's is there (see
// Enter).
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// The labels by which containers of nfchain's are known.
const (
	labelOwner  = "nfchain.owner"
	labelNode   = "nfchain.node"
	labelDigest = "nfchain.spec"
	// labelMachine tells the containers of this machine from those of others that have the same engine.
	labelMachine = "nfchain.machine"
	// labelName is that of a container whose engine does not take such a name.
	labelName = "nfchain.name"
	// labelImage is what the image is to an engine that keeps only its name.
	labelImage = "nfchain.image"
	// labelNetwork is the network that the container began with; absent where it is none.
	labelNetwork = "nfchain.network"
	// labelBeside is the container whose network namespace it is in; absent where it has its own.
	labelBeside = "nfchain.beside"
	// labelPages is the size of the hugepages that it may use, in bytes; absent where it was given none.
	labelPages = "nfchain.hugepages"
)

// Wanted is a container that is to be.
type Wanted struct {
	Owner, Node string
	// Hostname that it has; "" is its node's name.
	Hostname string
	// Name of the container, and Digest of all that it was made from.
	Name, Digest string
	// Image by name, tag or digest; "" is an image with nothing in it.
	Image string
	// From is the path of what the image is loaded or built from where it is not there; "" where it is fetched.
	From string
	// Pull says when the image is fetched: missing, always or never.
	Pull string
	// Args are what it runs, in place of the image's own; none is the image's.
	Args []string
	Env  []string
	Dir  string
	User string
	// Mounts of the host's files.
	Mounts []Mount
	// Capabilities that it has, and no others, written without CAP_; nor does it get any by what it runs.
	Capabilities []string
	// ReadOnly is whether its root cannot be written to.
	ReadOnly bool
	// Seccomp is which system calls it may make: "" are those that the engine allows by itself, unconfined is all, and else it is a profile.
	Seccomp string
	// Limits of what it may use.
	Limits Limits
	// Network of the engine's, by its name, that it begins with; "" is none.
	Network string
	// Plain tells that it is as the engine's own command line makes one that is to have no network. Else Docker has nothing to do with the network of
	// a container that has none of its own networks, and starts it in half the time.
	Plain bool
	// Publish are ports at which it is reached by the address that the machine has on that network, too, over TCP and UDP.
	Publish api.PortRanges
	// Beside is the name of a container of the same engine's whose network namespace it is in; "" has its own.
	Beside string
	// In is the name of the network namespace that it joins whenever it starts, by an engine that Joins; "" has the engine make one.
	In string
	// Program is nfchain's own, which every container is started by.
	Program string
}

// Mount of a file or directory of the host's.
type Mount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only,omitempty"`
}

// UnknownCode stands for the exit code of a container that ended in a way nobody knows, which is none.
const UnknownCode = -1

// Container as the engine has it.
type Container struct {
	// Engine is the name of the one that has it.
	Engine                        string
	ID, Name, Owner, Node, Digest string
	// Image that it was made of, as the engine calls it.
	Image string
	// Limits of what it may use.
	Limits Limits
	// Beside is the name of the container whose network namespace it is in; "" has its own.
	Beside string
	// Hosted tells that it is in the machine's own network namespace.
	Hosted bool
	// PID of its first process, in the host's numbers; 0 while it does not run.
	PID int
	// StopSignal is what asks its program to end, as its image says; 0 where that says nothing.
	StopSignal unix.Signal
	// How it ended, for people, and its exit code, [UnknownCode] where nobody knows it; "" while it runs, or has not run yet.
	How  string
	Code int
	// pages is its labelPages.
	pages string
	// told are its limits in words as Podman tells them, which may be others by now.
	told string
}

// Engine of containers, on this machine.
type Engine interface {
	// Name is that of the runtime in a chain.
	Name() string
	// Version of it, for people.
	Version(ctx context.Context) (string, error)
	// List the owner's containers; of all owners where it is "".
	List(ctx context.Context, owner string) ([]Container, error)
	// Host is where it listens.
	Host() string
	// Prepare what a container is made from, fetching its image where that is wanted, and give the engine's own name of that image.
	// Progress, which may be nil, is told what is done, in words.
	Prepare(ctx context.Context, w Wanted, progress func(what string)) (image string, err error)
	// Create a container of what is prepared.
	Create(ctx context.Context, w Wanted) (id string, err error)
	// Start one that does not run, and tell it as it is then.
	Start(ctx context.Context, id string) (Container, error)
	// Limit what one may use, whether it runs or not.
	Limit(ctx context.Context, id string, l Limits) error
	// Inspect one, by its ID or name.
	Inspect(ctx context.Context, id string) (Container, error)
	// Remove one, whatever it does. Already gone is success.
	Remove(ctx context.Context, id string) error
	// Exec runs a command in one, as its user and with its environment and what is given besides, and gives its exit code. When the context ends, so does the command.
	Exec(ctx context.Context, id string, args []string, s Streams) (code int, err error)
	// EndExec ends a command that Exec runs or ran, also for another process, or is yet to begin, by the name that its streams were given.
	// Already gone is success.
	EndExec(ctx context.Context, id, command string) error
	// Logs gives what one wrote from a time on, piece by piece with the time of each, and goes on until the context ends or the container
	// does, or what it is given to fails.
	Logs(ctx context.Context, id string, from time.Time, to func(at time.Time, text []byte) error) error
	// Joins tells that it starts a container in a network namespace that is there before, whose name is Wanted.In, and finds it by that.
	Joins() bool
	// Writes tells that it appends what containers write to their functions' logs by itself, so that Logs has nothing to give.
	Writes() bool
	// Reading is the command by which a person reads what one wrote.
	Reading(c Container) string
	Close() error
}

// ErrNotThere is that of a container, an image or an engine that is not there.
var ErrNotThere = errors.New("is not there")

// engines that there are, in the order in which they are asked.
var engines = []struct {
	name string
	// variable of the environment that says where it listens.
	variable string
	open     func(context.Context) (Engine, error)
}{
	{Docker, asDocker.variable, patiently(asDocker.open)},
	{Containerd, containerdVariable, patiently(openContainerd)},
	{Podman, asPodman.variable, patiently(asPodman.open)},
	{LXC, lxcVariable, openLXC},
}

// Names of the engines that there are, in the order in which they are asked.
func Names() (names []string) {
	for _, e := range engines {
		names = append(names, e.name)
	}
	return names
}

// Variable of the environment that says where an engine listens.
func Variable(name string) string {
	for _, e := range engines {
		if e.name == name {
			return e.variable
		}
	}
	return ""
}

// Open an engine by its name. An engine that does not answer is an error that says what to do, and so is one that ceases to while it is
// asked for something. See [Share].
func Open(ctx context.Context, name string) (Engine, error) {
	if s, is := ctx.Value(shareKey{}).(*share); is {
		return s.open(ctx, name)
	}
	return open(ctx, name)
}

func open(ctx context.Context, name string) (Engine, error) {
	at := slices.Index(Names(), name)
	if at < 0 {
		return nil, fmt.Errorf("there is no engine %q; use one of %v", name, Names())
	}
	e := engines[at]
	if err := silent.was(e.name, os.Getenv(e.variable)); err != nil {
		return nil, err
	}
	opened, err := e.open(ctx)
	if errors.Is(err, errSilent) {
		silent.note(e.name, os.Getenv(e.variable), err)
	}
	return opened, err
}

// ours of what an engine lists, each looked at by itself. What was removed meanwhile is left out.
func ours[Listed any](all []Listed, look func(Listed) (Container, error)) (found []Container, err error) {
	for _, l := range all {
		switch one, err := look(l); {
		case errors.Is(err, ErrNotThere):
		case err != nil:
			return nil, err
		case one.Owner != "":
			found = append(found, one)
		}
	}
	return found, nil
}
