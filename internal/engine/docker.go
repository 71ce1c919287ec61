package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"
	"github.com/moby/moby/client/pkg/versions"
	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

const (
	// Docker is the name of the engine that DOCKER_HOST names, or else listens at Docker's own socket.
	Docker = "docker"
	// Podman is that of the one that CONTAINER_HOST names, or else listens at Podman's. It speaks as Docker does.
	Podman = "podman"
)

// answersWithin is how long an engine may take to say that it is there.
const answersWithin = 5 * time.Second

// stopsWithin is how long a container has from being asked to end until it is ended.
const stopsWithin = 10 * time.Second

// docker is an engine that has Docker's API.
type docker struct {
	*client.Client
	speaker
}

// speaker is what differs among those.
type speaker struct {
	// name of the engine, and of its command; title is its name in a sentence.
	name, title string
	// variable of the environment says where it listens, and service is what runs it; start starts it.
	variable, service, start string
	// since is its oldest version that speaks leastAPI.
	since string
	// at is how the client is told where it listens.
	at func() client.Opt
}

var (
	asDocker = speaker{Docker, "Docker", "DOCKER_HOST", "docker", "systemctl start docker", "Docker 20.10", func() client.Opt { return client.FromEnv }}
	asPodman = speaker{Podman, "Podman", "CONTAINER_HOST", "podman", "systemctl start podman.socket", "Podman 4.3", func() client.Opt {
		return client.WithHost(cmp.Or(os.Getenv("CONTAINER_HOST"), "unix:///run/podman/podman.sock"))
	}}
)

// open the engine.
func (s speaker) open(ctx context.Context) (asked, error) {
	c, err := client.New(s.at())
	if err != nil {
		return nil, fmt.Errorf("the %s engine %w (%v); look at %s and what else of the environment begins as that does", s.title, ErrNotThere, err, s.variable)
	}
	if host := c.DaemonHost(); !strings.HasPrefix(host, "unix://") {
		_ = c.Close()
		return nil, fmt.Errorf("the %s engine at %s may be on another machine, whose network namespaces cannot be reached: for nfchain it %w; set %s to a unix:// socket of this machine", s.title, host, ErrNotThere, s.variable)
	}
	asking, stop := context.WithTimeout(ctx, answersWithin)
	defer stop()
	told, err := c.Ping(asking, client.PingOptions{NegotiateAPIVersion: true})
	if told.APIVersion != "" && versions.LessThan(told.APIVersion, leastAPI) { // which the client may refuse by itself
		host := c.DaemonHost()
		_ = c.Close()
		return nil, fmt.Errorf("the %s engine at %s speaks no newer API than %s: one of %s, as %s has it, %w; install that, or set %s to its socket",
			s.title, host, told.APIVersion, leastAPI, s.since, ErrNotThere, s.variable)
	}
	if err != nil {
		host := c.DaemonHost()
		_ = c.Close()
		if late(asking, ctx) {
			return nil, unanswered(fmt.Sprintf("the %s engine at %s", s.title, host), s.service, s.variable)
		}
		return nil, fmt.Errorf("the %s engine at %s %w (%v); start it (%s), or set %s", s.title, host, ErrNotThere, err, s.start, s.variable)
	}
	if spoken := c.ClientVersion(); versions.LessThan(spoken, leastAPI) {
		_ = c.Close()
		return nil, fmt.Errorf("the %s engine is to be spoken to by API %s, in which not all is said that has to be, so that it %w; unset DOCKER_API_VERSION, or set it to %s or newer",
			s.title, spoken, ErrNotThere, leastAPI)
	}
	return docker{c, s}, nil
}

// leastAPI is the oldest version of the Engine API in which all that is asked for has its meaning.
const leastAPI = "1.41"

func (d docker) answers(ctx context.Context) error {
	_, err := d.Ping(ctx, client.PingOptions{})
	return err
}

func (d docker) called() string { return "the " + d.title + " engine" }

func (d docker) unit() string { return d.service }

func (d docker) Name() string { return d.name }

func (d docker) Host() string { return d.DaemonHost() }

func (d docker) Version(ctx context.Context) (string, error) {
	v, err := d.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return "", fmt.Errorf("ask the %s engine at %s for its version: %w", d.title, d.Host(), err)
	}
	return v.Version, nil
}

func (d docker) List(ctx context.Context, owner string) ([]Container, error) {
	label := labelOwner
	if owner != "" {
		label += "=" + owner
	}
	filters := client.Filters{}.Add("label", label, labelMachine+"="+machine())
	all, err := d.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
	if err != nil {
		return nil, fmt.Errorf("list the containers of %s: %w", d.title, err)
	}
	return ours(all.Items, func(c container.Summary) (Container, error) { return d.Inspect(ctx, c.ID) })
}

func (d docker) Inspect(ctx context.Context, id string) (Container, error) {
	r, err := d.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return Container{}, fmt.Errorf("container %s %w", id, ErrNotThere)
	}
	if err != nil {
		return Container{}, fmt.Errorf("look at container %s: %w", id, err)
	}
	c := r.Container
	found := Container{Engine: d.Name(), ID: c.ID, Name: strings.TrimPrefix(c.Name, "/"), Image: c.Image}
	if c.Config != nil {
		found.label(c.Config.Labels)
		found.stops(c.Config.StopSignal)
	}
	// Images that somebody makes of a container have its labels, and so have their containers.
	if found.Owner != "" && !(isEntry(c.Config.Entrypoint) && madeOn(c, c.Config.Labels)) {
		found.Owner = ""
	}
	if found.Owner != "" && !onNetwork(c, c.Config.Labels) {
		found.Digest = "" // somebody has taken it off that: it is not what it was made
	}
	if c.HostConfig != nil {
		found.Limits = limitsOf(c.HostConfig.Resources)
	}
	if s := c.State; s != nil {
		if s.Running {
			found.PID = s.Pid
		}
		if d.name == Podman {
			found.limitedSince()
		}
		found.How, found.Code = ended(s, found.Limits), s.ExitCode
	}
	found.furnished()
	return found, nil
}

// killed is the exit code of what a SIGKILL ended.
const killed = 128 + int(unix.SIGKILL)

// ended says how a container ended.
func ended(s *container.State, l Limits) string {
	switch {
	case s.Running || s.Status == container.StateCreated && s.Error == "":
		return ""
	case s.OOMKilled:
		return "ended: it needed more memory than it may have"
	case s.Error != "":
		return "ended: " + s.Error
	case s.ExitCode == killed && l.MemoryBytes > 0:
		// The engine is told of want of memory by an event of its own, which may come later than the end, or never on a busy machine.
		return fmt.Sprintf("ended with exit code %d: somebody killed it, or it needed more memory than it may have (%s)", killed, api.Size(l.MemoryBytes))
	}
	return fmt.Sprintf("ended with exit code %d", s.ExitCode)
}

func (d docker) Prepare(ctx context.Context, w Wanted, progress func(string)) (string, error) {
	image, err := d.image(ctx, w, progress)
	if err != nil {
		return "", fmt.Errorf("function %s: %w", w.Node, err)
	}
	return image.ID, nil
}

func (d docker) Create(ctx context.Context, w Wanted) (string, error) {
	w.Pull = "never" // it has been fetched
	image, err := d.image(ctx, w, nil)
	if err != nil {
		return "", err
	}
	config := &container.Config{
		Image: image.ID, Env: w.Env, WorkingDir: w.Dir, User: w.User, Hostname: cmp.Or(w.Hostname, w.Node),
		Entrypoint: w.entry(), Cmd: w.Args,
		Labels: w.labels(),
	}
	if len(w.Args) == 0 {
		config.Cmd = image.command
	}
	network := cmp.Or(w.Network, "none")
	// On its network "none", Docker would have a process of its own for each start of one, which takes about as long as all else that it does for that.
	config.NetworkDisabled = w.Network == "" && w.Beside == "" && !w.Plain && d.name == Docker
	if w.Beside != "" {
		network, config.Hostname = besideMode+w.Beside, "" // which it has of the other
	}
	if len(config.Cmd) == 0 {
		return "", fmt.Errorf("image %s says nothing of what it runs; say it with args", w.Image)
	}
	if w.Network == HostNetwork {
		config.Cmd = append([]string{w.Name}, config.Cmd...)
	}
	security, over, err := d.securityOptions(w)
	if err != nil {
		return "", fmt.Errorf("make a container of image %s: %w", w.Image, err)
	}
	defer over()
	host := &container.HostConfig{
		NetworkMode: container.NetworkMode(network), ReadonlyRootfs: w.ReadOnly, CapDrop: []string{"ALL"}, CapAdd: w.Capabilities, SecurityOpt: security,
		LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "10m"}},
		Resources: w.Limits.resources(),
		Mounts:    []mount.Mount{{Type: mount.TypeBind, Source: w.Program, Target: program, ReadOnly: true}},
	}
	for _, m := range w.Mounts {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	if w.Publish != "" {
		if config.ExposedPorts, host.PortBindings, err = d.published(ctx, w); err != nil {
			return "", err
		}
	}
	made, err := d.ContainerCreate(ctx, client.ContainerCreateOptions{Config: config, HostConfig: host, Name: w.Name})
	if errdefs.IsConflict(err) {
		return "", fmt.Errorf("a container called %s is there already, and is not nfchain's; rename or remove it", w.Name)
	}
	if err != nil {
		return "", fmt.Errorf("make a container of image %s: %w", w.Image, err)
	}
	return made.ID, nil
}

// occupied is what an engine says of an address and port that another container, or another program of the machine's, has.
var occupied = regexp.MustCompile(`([0-9.]+):([0-9]+)\b.*(?:port is already allocated|address already in use)`)

func (d docker) Start(ctx context.Context, id string) (Container, error) {
	if _, err := d.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		if at := occupied.FindStringSubmatch(err.Error()); at != nil {
			return Container{}, fmt.Errorf("start container %s: port %s of %s, at which it is to be published, is taken; publish another, or end what has that one (%s ps; ss -tulnp): %w", id, at[2], at[1], d.name, err)
		}
		return Container{}, fmt.Errorf("start container %s: %w", id, err)
	}
	is, err := d.Inspect(ctx, id)
	if err == nil && d.name == Podman {
		if is, err = d.again(ctx, is); err != nil {
			err = fmt.Errorf("start container %s, and limit it again: %w", id, err)
		}
	}
	return is, err
}

func (d docker) Limit(ctx context.Context, id string, l Limits) error {
	if err := d.limit(ctx, id, l); err != nil {
		return fmt.Errorf("limit container %s to %s: %w", id, cmp.Or(l.String(), "nothing"), err)
	}
	return nil
}

func (d docker) limit(ctx context.Context, id string, l Limits) error {
	if d.name == Podman {
		return d.limitByPodman(ctx, id, l)
	}
	r, err := l.changed()
	if err == nil {
		_, err = d.ContainerUpdate(ctx, id, client.ContainerUpdateOptions{Resources: &r})
	}
	return err
}

func (d docker) Remove(ctx context.Context, id string) error {
	_, err := d.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	for deadline := time.Now().Add(stopsWithin); errdefs.IsConflict(err) && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		// somebody else removes it at this moment
		_, err = d.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}

func (d docker) Logs(ctx context.Context, id string, from time.Time, to func(time.Time, []byte) error) error {
	o := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true, Timestamps: true}
	if !from.IsZero() {
		o.Since = fmt.Sprintf("%d.%09d", from.Unix(), from.Nanosecond())
	}
	stream, err := d.ContainerLogs(ctx, id, o)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	_, err = stdcopy.StdCopy(stamped(to), stamped(to), stream)
	return err
}

// stamped takes pieces of what a container wrote, each with its time before it.
type stamped func(at time.Time, text []byte) error

func (s stamped) Write(piece []byte) (int, error) {
	stamp, text, _ := bytes.Cut(piece, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return 0, fmt.Errorf("the engine tells no time of what a container wrote: %w", err)
	}
	return len(piece), s(at, text)
}

func (docker) Joins() bool { return false }

func (docker) Writes() bool { return false }

func (d docker) Reading(c Container) string { return d.Name() + " logs " + c.Name }

// found is an image that is there.
type found struct {
	ID      string
	command []string // entry point and arguments of its own
}

// image that is wanted, fetched if it is to be.
func (d docker) image(ctx context.Context, w Wanted, progress func(string)) (found, error) {
	if w.Image == "" {
		return d.empty(ctx)
	}
	if w.From != "" {
		return d.local(ctx, w, progress)
	}
	if w.Pull == "always" {
		if err := d.pull(ctx, w.Image, progress); err != nil {
			return found{}, err
		}
	}
	f, err := d.look(ctx, w.Image)
	switch {
	case !errdefs.IsNotFound(err) || w.Pull == "always":
		return f, err
	case w.Pull == "never":
		return f, fmt.Errorf("image %s %w, and pull: never keeps it from being fetched; build or load it (%s load -i FILE)", w.Image, ErrNotThere, d.name)
	}
	if err := d.pull(ctx, w.Image, progress); err != nil {
		return f, err
	}
	return d.look(ctx, w.Image)
}

func (d docker) look(ctx context.Context, name string) (found, error) {
	r, err := d.ImageInspect(ctx, name)
	if err != nil {
		return found{}, fmt.Errorf("look at image %s: %w", name, err)
	}
	if !runs(r.Architecture) {
		return found{}, foreignImage(name, r.Architecture, fmt.Sprintf("%s pull --platform linux/%s", d.name, runtime.GOARCH))
	}
	f := found{ID: r.ID}
	if r.Config != nil {
		f.command = slices.Concat(r.Config.Entrypoint, r.Config.Cmd)
	}
	return f, nil
}

// foreignImage is the error of an image for another architecture, with the command that fetches one for this.
func foreignImage(name, architecture, fetch string) error {
	return fmt.Errorf("image %s is for %s, and this machine is %s; fetch or build it for this one (%s)", name, architecture, runtime.GOARCH, fetch)
}

// runs tells whether this machine runs programs for another architecture, as images name it, by its processor or by an interpreter that
// it has for them.
func runs(architecture string) bool {
	switch architecture {
	case "", runtime.GOARCH, map[string]string{"amd64": "386", "arm64": "arm"}[runtime.GOARCH]:
		return true
	}
	called := map[string]string{"amd64": "x86_64", "386": "i386", "arm64": "aarch64"}[architecture]
	_, err := os.Stat("/proc/sys/fs/binfmt_misc/qemu-" + cmp.Or(called, architecture))
	return err == nil
}

// nothing is the name of an image with nothing in it, for functions that are the kernel's work alone.
const nothing = "nfchain-nothing"

// empty is that image, made where it is not there.
func (d docker) empty(ctx context.Context) (found, error) {
	f, err := d.look(ctx, nothing)
	if !errdefs.IsNotFound(err) {
		return f, err
	}
	archive := bytes.NewReader(make([]byte, 1024)) // two empty blocks are the end of an archive (tar(5))
	r, err := d.ImageImport(ctx, client.ImageImportSource{Source: archive, SourceName: "-"}, nothing, client.ImageImportOptions{Message: "made by nfchain"})
	if err != nil {
		return found{}, fmt.Errorf("make image %s: %w", nothing, err)
	}
	_, err = io.Copy(io.Discard, r)
	_ = r.Close()
	if err != nil {
		return found{}, fmt.Errorf("make image %s: %w", nothing, err)
	}
	return d.look(ctx, nothing)
}
