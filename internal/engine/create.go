package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/opencontainers/image-spec/identity"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// snapshotters are where containerd keeps the files of containers, the first that works.
var snapshotters = []string{"overlayfs", "native"}

// keeps tells which of them it is here.
func (d containerd) keeps(ctx context.Context) (string, error) {
	all, err := d.client.IntrospectionService().Plugins(ctx, "type==io.containerd.snapshotter.v1")
	if err != nil {
		return "", fmt.Errorf("ask containerd for its snapshotters: %w", err)
	}
	for _, name := range snapshotters {
		for _, p := range all.GetPlugins() {
			if p.GetID() == name && p.GetInitErr() == nil {
				return name, nil
			}
		}
	}
	return "", fmt.Errorf("containerd has none of the snapshotters that can be used, %v; see `ctr plugins ls`", snapshotters)
}

func (d containerd) Prepare(ctx context.Context, w Wanted, progress func(string)) (string, error) {
	image, err := d.image(ctx, w, progress)
	if err != nil {
		return "", fmt.Errorf("function %s: %w", w.Node, err)
	}
	return called(image), nil
}

// called is what an image is to containerd, whatever its name; "" where there is none.
func called(image client.Image) string {
	if image == nil {
		return ""
	}
	return image.Target().Digest.String()
}

// image that is wanted, fetched if it is to be; nil where it is one with nothing in it.
func (d containerd) image(ctx context.Context, w Wanted, progress func(string)) (client.Image, error) {
	if w.Image == "" {
		return nil, nil
	}
	keeps, err := d.keeps(ctx)
	if err != nil {
		return nil, err
	}
	named, err := reference.ParseNormalizedNamed(w.Image)
	if err != nil {
		return nil, fmt.Errorf("image %q: %w", w.Image, err)
	}
	name := reference.TagNameOnly(named).String()
	if w.Pull == "always" {
		return d.pull(ctx, name, w.Image, keeps, progress)
	}
	image, err := d.client.GetImage(ctx, name)
	if w.From != "" && errdefs.IsNotFound(err) {
		if err = d.load(ctx, w, name, progress); err != nil {
			return nil, err
		}
		image, err = d.client.GetImage(ctx, name)
	}
	switch {
	case errdefs.IsNotFound(err) && w.Pull == "never":
		return nil, fmt.Errorf("image %s %w, and pull: never keeps it from being fetched; build or load it (ctr -n %s images import FILE)", w.Image, ErrNotThere, space)
	case errdefs.IsNotFound(err):
		return d.pull(ctx, name, w.Image, keeps, progress)
	case err != nil:
		return nil, fmt.Errorf("look at image %s: %w", w.Image, err)
	}
	if err := forThisMachine(ctx, image, w.Image); err != nil {
		return nil, err
	}
	if there, err := image.IsUnpacked(ctx, keeps); err == nil && there {
		return image, nil
	}
	if err = noted(func() error { return image.Unpack(ctx, keeps) }); errdefs.IsNotFound(err) { // what is for this machine was not fetched
		if others := fetchedFor(ctx, image.ContentStore(), image.Target()); others != "" {
			return nil, foreignImage(w.Image, others, fetchedBy(name))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("unpack image %s: %w", w.Image, err)
	}
	return image, nil
}

// fetchedFor is the architectures of an image that is for several, as far as that has been fetched; "" where one of them is this machine's.
func fetchedFor(ctx context.Context, from content.Provider, target ocispec.Descriptor) string {
	var all []string
	each, _ := images.Children(ctx, from, target)
	for _, one := range each {
		if one.Platform == nil || one.Platform.Architecture == "unknown" || !whole(ctx, from, one) { // which is that of what tells of an image
			continue
		}
		if one.Platform.Architecture == runtime.GOARCH {
			return ""
		}
		all = append(all, one.Platform.Architecture)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// whole tells whether an image is there with all that it has.
func whole(ctx context.Context, from content.Provider, manifest ocispec.Descriptor) bool {
	parts, err := images.Children(ctx, from, manifest)
	for _, part := range parts {
		file, missing := from.ReaderAt(ctx, part)
		if missing != nil {
			return false
		}
		_ = file.Close()
	}
	return err == nil
}

// load an image from what this machine has: a tarball, or what is built from a directory.
func (d containerd) load(ctx context.Context, w Wanted, name string, progress func(string)) error {
	lock, err := making(ctx, Containerd+" "+w.Image, progress)
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := d.client.GetImage(ctx, name); !errdefs.IsNotFound(err) {
		return err // or made meanwhile
	}
	s, err := source(w)
	if err != nil {
		return err
	}
	if s.Built {
		return built(ctx, Containerd, w, s, progress, func(tarball image.Source) error { return d.bring(ctx, tarball, w.Image) })
	}
	return d.bring(ctx, s, w.Image)
}

// forThisMachine is an error where an image is for another.
func forThisMachine(ctx context.Context, image client.Image, as string) error {
	if of, err := image.Spec(ctx); err == nil && !runs(of.Architecture) {
		return foreignImage(as, of.Architecture, fetchedBy(image.Name()))
	}
	return nil
}

// fetchedBy is the command by which an image is fetched for this machine.
func fetchedBy(name string) string {
	return fmt.Sprintf("ctr -n %s images pull --platform linux/%s %s", space, runtime.GOARCH, name)
}

// Create makes the container's record first, by which the rest is found, however this ends, and which keeps containerd
// from clearing its files away. It has its digest when all of it is there.
func (d containerd) Create(ctx context.Context, w Wanted) (string, error) {
	ctx = namespaces.WithNamespace(ctx, space) // the making of a specification asks for it
	w.Pull = "never"                           // it has been fetched
	image, err := d.image(ctx, w, nil)
	if err != nil {
		return "", err
	}
	record, spec, err := d.record(ctx, w, image)
	if err == nil {
		_, err = d.client.ContainerService().Create(ctx, record)
	}
	if errdefs.IsAlreadyExists(err) {
		return "", fmt.Errorf("a container called %s is there already, and is not nfchain's; remove it (ctr -n %s containers rm %s)", w.Name, space, record.ID)
	}
	if err == nil {
		err = d.finish(ctx, w, image, record, spec)
	}
	if err != nil {
		clearing, stop := afterwards(ctx, stopsWithin)
		defer stop()
		_ = d.Remove(clearing, idOf(w.Name))
		return "", fmt.Errorf("make a container of %s: %w", cmp.Or(w.Image, "nothing"), err)
	}
	return record.ID, nil
}

// record of a container without files yet, and its specification so far.
func (d containerd) record(ctx context.Context, w Wanted, image client.Image) (r containers.Container, spec *oci.Spec, err error) {
	id := idOf(w.Name)
	r = containers.Container{
		ID: id, Runtime: containers.RuntimeInfo{Name: runner}, SnapshotKey: id,
		Labels: w.labels(),
	}
	r.Labels[labelDigest], r.Labels[labelName], r.Labels[labelImage] = "", w.Name, called(image)
	if image != nil {
		r.Image = image.Name()
		if of, err := image.Spec(ctx); err == nil && of.Config.StopSignal != "" {
			r.Labels[client.StopSignalLabel] = of.Config.StopSignal // where other tools look for it, too
		}
	}
	if r.Snapshotter, err = d.keeps(ctx); err != nil {
		return r, nil, err
	}
	if spec, err = oci.GenerateSpec(ctx, d.client, &containers.Container{ID: id}, contained(id, w)...); err != nil {
		return r, nil, err
	}
	return r, spec, client.WithSpec(spec)(ctx, d.client, &r)
}

// finish a container of which there is the record.
func (d containerd) finish(ctx context.Context, w Wanted, image client.Image, record containers.Container, spec *oci.Spec) error {
	if err := d.fill(ctx, record, image); err != nil {
		return err
	}
	if image != nil {
		if err := d.fit(ctx, record, w, image, spec); err != nil {
			return err
		}
	}
	record.Labels[labelDigest] = w.Digest
	if err := client.WithSpec(spec)(ctx, d.client, &record); err != nil {
		return err
	}
	_, err := d.client.ContainerService().Update(ctx, record)
	return err
}

// contained is how a container is, as far as that does not depend on what is in it.
func contained(id string, w Wanted) []oci.SpecOpts {
	all := []oci.SpecOpts{
		oci.WithProcessArgs(append(w.entry(), w.Args...)...),
		// A cgroup beside others of the machine's: that of a namespace of containerd's would be left.
		oci.WithCgroup("/" + id), oci.WithHostname(cmp.Or(w.Hostname, w.Node)), oci.WithoutRunMount, oci.WithDefaultUnixDevices,
		oci.WithMounts([]specs.Mount{bind(Mount{w.Program, program, true})}),
		func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
			s.Process.Rlimits = nil // those of containerd
			return nil
		},
	}
	// They are mounted one after the other, and what is within another would be hidden by one that came after.
	for _, m := range slices.SortedStableFunc(slices.Values(w.Mounts), func(a, b Mount) int { return cmp.Compare(depth(a), depth(b)) }) {
		all = append(all, oci.WithMounts([]specs.Mount{bind(m)}))
	}
	if in := cmp.Or(w.Beside, w.In); in != "" {
		all = append(all, oci.WithLinuxNamespace(specs.LinuxNamespace{Type: specs.NetworkNamespace, Path: netns.Path(in)}))
	}
	all = append(all, withCapabilities(w.Capabilities))
	if w.ReadOnly {
		all = append(all, oci.WithRootFSReadonly())
	}
	all = append(all, func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
		w.Limits.within(s)
		return nil
	})
	all = append(all, withSeccomp(w.Seccomp))
	return all
}

// withCapabilities has a container have some, or all that there are here, by names that capabilities(7) has.
func withCapabilities(names []string) oci.SpecOpts {
	if slices.Contains(names, "ALL") {
		return oci.WithAllCurrentCapabilities
	}
	var may []string
	for _, name := range names {
		may = append(may, "CAP_"+name)
	}
	return oci.WithCapabilities(may)
}

// depth is how many directories a mount is within.
func depth(m Mount) int { return strings.Count(filepath.Clean(m.Target), "/") }

func bind(m Mount) specs.Mount {
	options := []string{"rbind", "rprivate"}
	if m.ReadOnly {
		options = append(options, "ro")
	}
	return specs.Mount{Type: "bind", Source: m.Source, Destination: m.Target, Options: options}
}

// fill makes the container's files: those of the image, or none.
func (d containerd) fill(ctx context.Context, record containers.Container, image client.Image) error {
	parent := ""
	if image != nil {
		layers, err := image.RootFS(ctx)
		if err != nil {
			return err
		}
		parent = identity.ChainID(layers).String()
	}
	files := d.client.SnapshotService(record.Snapshotter)
	return noted(func() error {
		_, err := files.Prepare(ctx, record.SnapshotKey, parent)
		if errdefs.IsAlreadyExists(err) { // of a container that is no more
			if err := files.Remove(ctx, record.SnapshotKey); err != nil {
				return err
			}
			_, err = files.Prepare(ctx, record.SnapshotKey, parent)
		}
		return err
	})
}

// fit a container to what is in it: its program, environment and directory, its users and groups, who are found in its
// own files. Those are mounted where nobody else sees it, and where nothing is left.
func (d containerd) fit(ctx context.Context, record containers.Container, w Wanted, image client.Image, spec *oci.Spec) error {
	mounts, err := d.client.SnapshotService(record.Snapshotter).Mounts(ctx, record.SnapshotKey)
	if err != nil {
		return err
	}
	at := rundir.Of(w.Owner)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return netns.Unseen(func() error {
		if err := mountHere(mounts, at); err != nil {
			return err
		}
		root := spec.Root.Path
		spec.Root.Path = at
		err := oci.ApplyOpts(ctx, d.client, &containers.Container{ID: record.ID}, spec, taken(oci.WithImageConfig(image), w)...)
		spec.Root.Path = root
		return errors.Join(err, unix.Chdir("/"), unix.Unmount(at, 0))
	})
}

// taken from an image is what a container has of it, where it is not told otherwise.
func taken(of oci.SpecOpts, w Wanted) []oci.SpecOpts {
	all := []oci.SpecOpts{
		of, oci.WithEnv(w.Env),
		func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
			args := w.Args
			if len(args) == 0 {
				args = s.Process.Args
			}
			if len(args) == 0 {
				return fmt.Errorf("image %s says nothing of what it runs; say it with args", w.Image)
			}
			s.Process.Args = append(w.entry(), args...)
			return nil
		},
	}
	if w.Dir != "" {
		all = append(all, oci.WithProcessCwd(w.Dir))
	}
	if w.User != "" {
		all = append(all, func(ctx context.Context, c oci.Client, of *containers.Container, s *oci.Spec) error {
			if err := oci.WithUser(w.User)(ctx, c, of, s); err != nil {
				return fmt.Errorf("user %s: %w", w.User, err)
			}
			return oci.WithAdditionalGIDs(strconv.Itoa(int(s.Process.User.UID)))(ctx, c, of, s)
		})
	}
	return all
}

// mountHere mounts a container's files, by this thread. Where its layers have long names, the library does so by another, and so they
// are shortened before.
func mountHere(mounts []mount.Mount, at string) error {
	for i, m := range mounts {
		for j, option := range m.Options {
			layers, is := strings.CutPrefix(option, "lowerdir=")
			if !is {
				continue
			}
			names := strings.Split(layers, ":")
			base := filepath.Dir(filepath.Dir(names[0])) // of BASE/NUMBER/fs
			for k := range names {
				short, under := strings.CutPrefix(names[k], base+"/")
				if !under {
					return fmt.Errorf("layer %s is not below %s, where the others are", names[k], base)
				}
				names[k] = short
			}
			if err := unix.Chdir(base); err != nil {
				return err
			}
			mounts[i].Options[j] = "lowerdir=" + strings.Join(names, ":")
		}
		if len(strings.Join(m.Options, ",")) > os.Getpagesize()-512 {
			return errors.New("it has more layers than can be mounted")
		}
	}
	return mount.All(mounts, at)
}
