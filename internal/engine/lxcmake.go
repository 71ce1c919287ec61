package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine/image"
	lxcconfig "nfchain.dev/nfchain/internal/engine/lxc"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// unpacked is an image: what LXC's containers say that they are made of, the directory of its files, and what it says of what it runs.
type unpacked struct {
	called, dir string
	config      imagespec.ImageConfig
}

// The parts of an image's directory.
const (
	unpackedFiles  = "files"
	unpackedConfig = "config.json"
)

// files of an image; "" where it has none.
func (u unpacked) files() string {
	if u.dir == "" {
		return ""
	}
	return filepath.Join(u.dir, unpackedFiles)
}

func (l lxc) Prepare(ctx context.Context, w Wanted, progress func(string)) (string, error) {
	image, err := l.image(ctx, w, progress)
	if err == nil {
		err = told(ctx, w)
	}
	if err != nil {
		return "", fmt.Errorf("function %s: %w", w.Node, err)
	}
	return image.called, nil
}

// told is an error if LXC cannot be told of a container, as far as that does not depend on what is in it.
func told(ctx context.Context, w Wanted) error {
	spec, err := specified(ctx, idOf(w.Name), w)
	if err != nil {
		return err
	}
	spec.Process.Env = w.Env
	if w.Dir != "" {
		spec.Process.Cwd = w.Dir
	}
	if of := spec.Linux.Seccomp; of != nil {
		if _, err := lxcconfig.Seccomp(of); err != nil {
			return fmt.Errorf("profile of seccomp: %w", err)
		}
	}
	_, err = lxcconfig.Config(lxcconfig.Container{}, spec)
	return err
}

// specified is a container without what is in it.
func specified(ctx context.Context, id string, w Wanted) (*oci.Spec, error) {
	return oci.GenerateSpec(namespaces.WithNamespace(ctx, space), nil, &containers.Container{ID: id}, contained(id, w)...)
}

// images is where they are, unpacked.
func (l lxc) images() string { return filepath.Join(l.dir, "images") }

// image that is wanted, unpacked where it is not.
func (l lxc) image(ctx context.Context, w Wanted, progress func(string)) (u unpacked, err error) {
	switch {
	case w.Image == "":
		return u, nil
	case w.From == "":
		return l.named(ctx, w, progress)
	}
	_, tag, _ := strings.Cut(w.Image, ":")
	u = unpacked{called: w.Image, dir: filepath.Join(l.images(), tag)}
	if err := u.read(); !errors.Is(err, fs.ErrNotExist) {
		return u, err
	}
	return u, u.once(ctx, w.Image, progress, func() error {
		s, err := source(w)
		switch {
		case err != nil:
			return err
		case s.Built:
			return built(ctx, LXC, w, s, progress, func(tarball image.Source) error { return u.make(ctx, tarball, w.From, progress) })
		}
		return u.make(ctx, s, w.From, progress)
	})
}

// once makes an image, unless another makes it meanwhile, who is waited for.
func (u *unpacked) once(ctx context.Context, name string, progress func(string), make func() error) error {
	lock, err := making(ctx, LXC+" "+name, progress)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := u.read(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := sweep(filepath.Dir(u.dir), unpackedOf); err != nil {
		return err
	}
	if err := make(); err != nil {
		return err
	}
	return u.read()
}

// unpackedOf is the name of what is unpacked into a directory: an image by its digest, or of nfchain's own by its tag.
func unpackedOf(dir string) string {
	if algorithm, hash, fetched := strings.Cut(dir, "-"); fetched {
		return LXC + " " + algorithm + ":" + hash
	}
	return LXC + " " + image.Repository + ":" + dir
}

// read what an image that is there says.
func (u *unpacked) read() error {
	text, err := os.ReadFile(filepath.Join(u.dir, unpackedConfig))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &u.config)
}

// make an image aside, so that it is there whole or not at all.
func (u *unpacked) make(ctx context.Context, s image.Source, from string, progress func(string)) error {
	if progress != nil {
		progress("unpacking an image from " + from)
	}
	if err := u.fill(func(files string) (imagespec.ImageConfig, error) { return s.Unpack(ctx, files) }); err != nil {
		return fmt.Errorf("unpack an image from %s: %w", from, err)
	}
	return nil
}

// fill an image's directory: by whom its files come into one that is empty, which may have others beside that meanwhile.
func (u *unpacked) fill(by func(files string) (imagespec.ImageConfig, error)) error {
	aside := u.dir + asideEnd
	if err := os.RemoveAll(aside); err != nil { // of one that was killed
		return err
	}
	defer func() { _ = os.RemoveAll(aside) }()
	files := filepath.Join(aside, unpackedFiles)
	if err := os.MkdirAll(filepath.Dir(aside), 0o700); err != nil { // nobody else gets at programs in it that have another's rights
		return err
	}
	if err := directory(files); err != nil {
		return err
	}
	config, err := by(files)
	if err != nil {
		return err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	if err := rundir.Keep(filepath.Join(aside, unpackedConfig), text, 0o600); err != nil {
		return err
	}
	if err := os.RemoveAll(u.dir); err != nil { // of one of which somebody removed a part
		return err
	}
	return os.Rename(aside, u.dir)
}

// directory that everybody may read, whatever the umask is.
func directory(name string) error {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return err
	}
	return os.Chmod(name, 0o755)
}

// lxcNew begins the name of a container's directory until its record is in it.
const lxcNew = ".new-"

// Create makes the container's record first, by which the rest is found, however this ends. It has its digest when all of it is there.
func (l lxc) Create(ctx context.Context, w Wanted) (string, error) {
	w.Pull = "never" // it has been fetched
	image, err := l.image(ctx, w, nil)
	if err != nil {
		return "", err
	}
	id := idOf(w.Name)
	r, err := l.begin(ctx, id, w, image.called)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
		return "", fmt.Errorf("a container called %s is there already, and is not nfchain's; remove it (rm -r %s)", w.Name, l.at(id, ""))
	}
	if err == nil {
		err = l.finish(ctx, id, w, image, r)
		if err != nil {
			clearing, stop := afterwards(ctx, stopsWithin)
			defer stop()
			_ = l.Remove(clearing, id)
		}
	}
	if err != nil {
		return "", fmt.Errorf("make a container of %s: %w", cmp.Or(w.Image, "nothing"), err)
	}
	return id, nil
}

// begin a container of an image that is called so, with its record.
func (l lxc) begin(ctx context.Context, id string, w Wanted, image string) (r record, err error) {
	r.Labels = w.labels()
	r.Labels[labelDigest], r.Labels[labelName], r.Labels[labelImage] = "", w.Name, image
	spec, err := specified(ctx, id, w)
	if err != nil {
		return r, err
	}
	r.Spec = *spec
	if err := os.MkdirAll(l.containers(), 0o700); err != nil {
		return r, err
	}
	aside := l.at(lxcNew+id, "")
	if err := os.RemoveAll(aside); err != nil { // of one that was killed
		return r, err
	}
	defer func() { _ = os.RemoveAll(aside) }()
	if err := os.MkdirAll(aside, 0o755); err != nil {
		return r, err
	}
	if err := r.keep(filepath.Join(aside, lxcRecord)); err != nil {
		return r, err
	}
	return r, os.Rename(aside, l.at(id, ""))
}

// finish a container of which there is the record.
func (l lxc) finish(ctx context.Context, id string, w Wanted, of unpacked, r record) error {
	root := l.at(id, lxcRoot)
	if err := directory(root); err != nil {
		return err
	}
	r.Below = of.files()
	err := l.fit(ctx, id, w, of, &r)
	if errors.Is(err, errOverlay) {
		r.Below = ""
		if text, wrong := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", of.files()+"/.", root).CombinedOutput(); wrong != nil {
			return fmt.Errorf("copy the image's files, since %w: %w: %s", err, wrong, strings.TrimSpace(string(text)))
		}
		err = l.fit(ctx, id, w, of, &r)
	}
	if err != nil {
		return err
	}
	if err := l.configure(id, r); err != nil {
		return err
	}
	r.Labels[labelDigest] = w.Digest
	return r.keep(l.at(id, lxcRecord))
}

// errOverlay is that of files that cannot be laid over others here.
var errOverlay = errors.New("files cannot be laid over others here")

// fit a container to what is in it, and what is in it to the container: its program, environment and directory, its users and groups, who
// are found in its own files, and the places where something is mounted. Its files are mounted where nobody else sees it.
func (l lxc) fit(ctx context.Context, id string, w Wanted, of unpacked, r *record) error {
	root := l.at(id, lxcRoot)
	return netns.Unseen(func() error {
		at := root
		if r.Below != "" {
			at = l.at(id, "seen")
			for _, dir := range []string{at, l.at(id, lxcWork)} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
			}
			over := mount.Mount{Type: "overlay", Source: "overlay", Options: []string{"lowerdir=" + r.Below, "upperdir=" + root, "workdir=" + l.at(id, lxcWork)}}
			if err := over.Mount(at); err != nil {
				return fmt.Errorf("%w: %w", errOverlay, err)
			}
			defer func() { _ = unix.Unmount(at, unix.MNT_DETACH) }()
		}
		if of.dir != "" {
			spec := &r.Spec
			was := spec.Root.Path
			spec.Root.Path = at
			err := oci.ApplyOpts(ctx, nil, &containers.Container{ID: id}, spec, taken(configured(of.config), w)...)
			spec.Root.Path = was
			if err != nil {
				return err
			}
			if by := of.config.StopSignal; by != "" {
				r.Labels[labelStops] = by
			}
		}
		return points(at, lxcconfig.Points(&r.Spec))
	})
}

// configured is how an image has its containers.
func configured(c imagespec.ImageConfig) oci.SpecOpts {
	env := c.Env
	if len(env) == 0 {
		env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	}
	all := []oci.SpecOpts{
		oci.WithEnv(env), oci.WithProcessCwd(cmp.Or(c.WorkingDir, "/")),
		func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
			s.Process.Args = slices.Concat(c.Entrypoint, c.Cmd)
			return nil
		},
	}
	if c.User == "" {
		return oci.Compose(append(all, oci.WithAdditionalGIDs("root"))...)
	}
	return oci.Compose(append(all, oci.WithUser(c.User), func(ctx context.Context, client oci.Client, of *containers.Container, s *oci.Spec) error {
		return oci.WithAdditionalGIDs(strconv.Itoa(int(s.Process.User.UID)))(ctx, client, of, s)
	})...)
}

// points makes those at which something is mounted, in a container's files, whatever links are in these: meanwhile they are all that there
// is to this thread, which nobody else uses.
func points(root string, all map[string]fs.FileMode) (err error) {
	host, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(host) }()
	if err := unix.Chroot(root); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Fchdir(host), unix.Chroot(".")) }()
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	for name, mode := range all {
		if err := point(name, mode, deepestLink); err != nil {
			return fmt.Errorf("make %s, where something is mounted: %w", name, err)
		}
	}
	return nil
}

// deepestLink is how many links may lead to where something is mounted, as the kernel has it (path_resolution(7)).
const deepestLink = 40

// point is made where there is none, and where a link leads to nothing what it leads to.
func point(name string, mode fs.FileMode, links int) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if to, err := os.Readlink(name); err == nil {
		if links == 0 {
			return unix.ELOOP
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		return point(to, mode, links-1)
	}
	if err := point(filepath.Dir(name), fs.ModeDir, links); err != nil {
		return err
	}
	if mode.IsDir() {
		return directory(name)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(0o644), file.Close())
}

// configure is what LXC is told of a container.
func (l lxc) configure(id string, r record) error {
	c := lxcconfig.Container{ID: id, Files: lxcconfig.Files{Root: l.at(id, lxcRoot), Below: r.Below}, Ends: l.noting(id)}
	if of := r.Spec.Linux.Seccomp; of != nil {
		text, err := lxcconfig.Seccomp(of)
		if err != nil {
			return fmt.Errorf("profile of seccomp: %w", err)
		}
		c.Seccomp = l.at(id, lxcSeccomp)
		if err := rundir.Keep(c.Seccomp, []byte(text), 0o600); err != nil {
			return err
		}
	}
	text, err := lxcconfig.Config(c, &r.Spec)
	if err != nil {
		return err
	}
	return rundir.Keep(l.at(id, lxcConfig), []byte(text), 0o600)
}
