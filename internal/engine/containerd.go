package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/defaults"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/identifiers"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/containerd/errdefs"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// Containerd is the name of the engine that CONTAINERD_ADDRESS names, or else listens at containerd's own socket.
const Containerd = "containerd"

const (
	containerdVariable = "CONTAINERD_ADDRESS"
	// space is the namespace of containerd's that nfchain's containers and their images are in.
	space = "nfchain"
	// runner is what containerd starts a container by.
	runner = "io.containerd.runc.v2"
)

type containerd struct {
	client  *client.Client
	address string
	// joins is Joins.
	joins bool
}

func openContainerd(ctx context.Context) (asked, error) {
	address := strings.TrimPrefix(cmp.Or(os.Getenv(containerdVariable), defaults.DefaultAddress), "unix://")
	asking, stop := context.WithTimeout(ctx, answersWithin)
	defer stop()
	d, err := dialContainerd(asking, address)
	if err != nil && late(asking, ctx) {
		return nil, unanswered("containerd at "+address, Containerd, containerdVariable)
	}
	if err != nil {
		return nil, fmt.Errorf("containerd at %s %w (%v); start it (systemctl start containerd) and be root, or set %s", address, ErrNotThere, err, containerdVariable)
	}
	return d, nil
}

func dialContainerd(ctx context.Context, address string) (asked, error) {
	// The client goes on trying where nobody listens.
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	d := containerd{address: address, joins: sharesMounts(c.(*net.UnixConn))}
	_ = c.Close()
	d.client, err = client.New(address, client.WithDefaultNamespace(space), client.WithDefaultRuntime(runner), client.WithTimeout(answersWithin))
	if err != nil {
		return nil, err
	}
	if _, err := d.client.Version(ctx); err != nil {
		_ = d.client.Close()
		return nil, err
	}
	return d, nil
}

func (containerd) Name() string { return Containerd }

func (d containerd) answers(ctx context.Context) error {
	_, err := d.client.Version(ctx)
	return err
}

func (containerd) called() string { return Containerd }

func (containerd) unit() string { return Containerd }

func (d containerd) Host() string { return "unix://" + d.address }

func (d containerd) Version(ctx context.Context) (string, error) {
	v, err := d.client.Version(ctx)
	return v.Version, err
}

func (d containerd) Close() error { return d.client.Close() }

// idOf a container by its name, or by its ID, which may be no longer than containerd takes it.
func idOf(name string) string {
	if identifiers.Validate(name) == nil {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "nfchain-" + hex.EncodeToString(sum[:16])
}

func (d containerd) List(ctx context.Context, owner string) ([]Container, error) {
	filter := fmt.Sprintf("labels.%q", labelOwner)
	if owner != "" {
		filter += "==" + strconv.Quote(owner)
	}
	all, err := d.client.Containers(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("list the containers of containerd: %w", err)
	}
	return ours(all, func(c client.Container) (Container, error) { return d.look(ctx, c) })
}

func (d containerd) Inspect(ctx context.Context, id string) (Container, error) {
	c, err := d.client.LoadContainer(ctx, idOf(id))
	if errdefs.IsNotFound(err) {
		return Container{}, fmt.Errorf("container %s %w", id, ErrNotThere)
	}
	if err != nil {
		return Container{}, fmt.Errorf("look at container %s: %w", id, err)
	}
	return d.look(ctx, c)
}

// look at a container as it is.
func (d containerd) look(ctx context.Context, c client.Container) (Container, error) {
	info, err := c.Info(ctx, client.WithoutRefreshedMetadata)
	if err != nil {
		return Container{}, fmt.Errorf("look at container %s: %w", c.ID(), err)
	}
	found := Container{Engine: Containerd, ID: info.ID, Name: cmp.Or(info.Labels[labelName], info.ID), Image: info.Labels[labelImage]}
	found.label(info.Labels)
	found.stops(info.Labels[client.StopSignalLabel])
	spec := specOf(info)
	if found.Limits = limitsIn(&spec); !begun(spec) {
		found.Owner = "" // it has the labels alone
	}
	task, status, err := decided(ctx, c)
	switch {
	case errdefs.IsNotFound(err): // it has not run yet, or containerd has been without it since
		found.How, found.Code = "ended, and containerd does not know how", UnknownCode
	case err != nil:
		return found, fmt.Errorf("look at container %s: %w", c.ID(), err)
	case status.Status == client.Created: // and not started
	case status.Status != client.Stopped:
		found.PID = int(task.Pid())
	default:
		found.Code = int(status.ExitStatus)
		found.How = fmt.Sprintf("ended with exit code %d", found.Code)
		if ranOut(info.ID) {
			found.How = "ended: it needed more memory than it may have"
		}
	}
	found.furnished()
	return found, nil
}

// knownWithin is how long containerd may take to know what a container does.
const knownWithin = 10 * time.Second

// decided is the task of a container with its status. Of one whose shim does not answer in time, as on a busy machine, containerd says that its
// status is unknown, and no process (getProcessState in its plugins/services/tasks): it is asked again for a while.
func decided(ctx context.Context, c client.Container) (task client.Task, status client.Status, err error) {
	for deadline := time.Now().Add(knownWithin); ; {
		if task, err = c.Task(ctx, nil); err == nil {
			status, err = task.Status(ctx)
		}
		runs := err == nil && status.Status != client.Created && status.Status != client.Stopped
		if !runs || status.Status != client.Unknown && task.Pid() != 0 || time.Now().After(deadline) {
			return task, status, err
		}
		select {
		case <-ctx.Done():
			return task, status, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// specOf a container; an empty one where that cannot be read.
func specOf(info containers.Container) (s oci.Spec) {
	if info.Spec == nil || json.Unmarshal(info.Spec.GetValue(), &s) != nil {
		return oci.Spec{}
	}
	return s
}

// begun tells whether a container begins with nfchain.
func begun(s oci.Spec) bool {
	first := len(Wanted{}.entry())
	return s.Process != nil && len(s.Process.Args) >= first && isEntry(s.Process.Args[:first])
}

// ranOut tells whether the kernel ended a process of a container for want of memory. Its cgroup is there until what is
// left of the container is taken away.
func ranOut(id string) bool {
	return ranOutIn("/sys/fs/cgroup/"+id+"/memory.events", "/sys/fs/cgroup/memory/"+id+"/memory.oom_control")
}

// ranOutIn is what the files of control groups tell, those that there are.
func ranOutIn(files ...string) bool {
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if n, is := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); is && n != "0" {
				return true
			}
		}
	}
	return false
}

// Start takes away what is left of the last time that the container ran.
func (d containerd) Start(ctx context.Context, id string) (Container, error) {
	if err := d.start(ctx, idOf(id)); err != nil {
		return Container{}, fmt.Errorf("start container %s: %w", id, err)
	}
	return d.Inspect(ctx, id)
}

func (d containerd) start(ctx context.Context, id string) error {
	c, err := d.client.LoadContainer(ctx, id)
	if err != nil {
		return err
	}
	if task, err := c.Task(ctx, nil); err == nil {
		if status, err := task.Status(ctx); err == nil && status.Status != client.Stopped && status.Status != client.Created {
			return nil
		}
		if _, err := task.Delete(ctx, client.WithProcessKill); err != nil && !errdefs.IsNotFound(err) {
			return err
		}
	} else if !errdefs.IsNotFound(err) {
		return err
	}
	labels, err := c.Labels(ctx)
	if err != nil {
		return err
	}
	log := cio.LogFile(rundir.Log(labels[labelOwner], labels[labelNode]))
	left := bundle{id: id, address: d.address, rest: restsFor}
	task, err := anew(ctx, c, log, func(refusal error) error {
		d.sweep(ctx, id)
		if _, err := c.Task(ctx, nil); !errdefs.IsNotFound(err) {
			return nil
		}
		return left.clear(refusal)
	})
	if err != nil {
		return err
	}
	if err := task.Start(ctx); err != nil {
		clearing, stop := afterwards(ctx, stopsWithin)
		defer stop()
		_, _ = task.Delete(clearing, client.WithProcessKill)
		return err
	}
	return nil
}

// anew makes a container's task. Where there is one already, or one is being made for somebody who was ended meanwhile, that is swept away until
// there is room. What sweeps is told why none is made, and says what keeps it from sweeping.
func anew(ctx context.Context, c client.Container, log cio.Creator, sweep func(refusal error) error) (client.Task, error) {
	var by error
	for deadline := time.Now().Add(knownWithin); ; {
		task, err := c.NewTask(ctx, log)
		if !isThere(err) {
			return task, err
		}
		if time.Now().After(deadline) {
			return nil, kept(err, by)
		}
		by = sweep(err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// isThere tells whether a task was not made because there is one: containerd says so, or of one that it is making just now, or taking away, that its
// directory exists (NewBundle in its runtime/v2).
func isThere(err error) bool {
	return errdefs.IsAlreadyExists(err) || err != nil && strings.Contains(err.Error(), unix.EEXIST.Error())
}

// sweep away what is left of a task that containerd was making when it ended: a shim without a process. It says of that that there is no
// task, and makes none of the same name. What cannot be swept is found when the next is made.
func (d containerd) sweep(ctx context.Context, id string) {
	_, _ = d.client.TaskService().Delete(ctx, &tasks.DeleteTaskRequest{ContainerID: id})
}

// removeGroups of a container that has no process: runc makes them first, and whoever was ended then has left them. The kernel keeps those that
// have one.
func removeGroups(id string) {
	for _, pattern := range []string{"/sys/fs/cgroup/" + id, "/sys/fs/cgroup/*/" + id} {
		groups, _ := filepath.Glob(pattern)
		for _, group := range groups {
			_ = unix.Rmdir(group)
		}
	}
}

// Limit changes what runs first, and the record by which it runs the next time.
func (d containerd) Limit(ctx context.Context, id string, l Limits) error {
	if err := d.limit(ctx, idOf(id), l); err != nil {
		return fmt.Errorf("limit container %s to %s: %w", id, cmp.Or(l.String(), "nothing"), err)
	}
	return nil
}

func (d containerd) limit(ctx context.Context, id string, l Limits) error {
	c, err := d.client.LoadContainer(ctx, id)
	if err != nil {
		return err
	}
	task, err := c.Task(ctx, nil)
	if err == nil {
		var r *specs.LinuxResources
		if r, err = l.task(); err == nil {
			err = task.Update(ctx, client.WithResources(r))
		}
	}
	if err != nil && !errdefs.IsNotFound(err) { // which one is that has ended
		return err
	}
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	spec := specOf(info)
	l.within(&spec)
	if err := client.WithSpec(&spec)(ctx, d.client, &info); err != nil {
		return err
	}
	_, err = d.client.ContainerService().Update(ctx, info, "spec")
	return err
}

func (d containerd) Remove(ctx context.Context, id string) error {
	err := d.remove(ctx, idOf(id))
	for deadline := time.Now().Add(stopsWithin); err != nil && ctx.Err() == nil && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		err = d.remove(ctx, idOf(id)) // somebody else may remove it at this moment
	}
	if err != nil {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}

func (d containerd) remove(ctx context.Context, id string) error {
	c, err := d.client.LoadContainer(ctx, id)
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	task, err := c.Task(ctx, nil)
	if err == nil {
		_, err = task.Delete(ctx, client.WithProcessKill)
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return err
	}
	if err != nil {
		d.sweep(ctx, id)
		if err := endStray(ctx, id, d.address, shimEndsWithin); err != nil { // while the record is there, by which who comes next looks for it
			return err
		}
		removeGroups(id)
	}
	if err := c.Delete(ctx, client.WithSnapshotCleanup); err != nil && !errdefs.IsNotFound(err) {
		return err
	}
	return nil
}

func (d containerd) Joins() bool { return d.joins }

func (containerd) Writes() bool { return true }

// Logs has nothing to give: what a container writes goes to the function's log.
func (containerd) Logs(context.Context, string, time.Time, func(time.Time, []byte) error) error {
	return nil
}

func (containerd) Reading(c Container) string {
	return "cat " + filepath.Clean(rundir.Log(c.Owner, c.Node))
}
