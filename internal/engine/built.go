package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/moby/moby/client"

	"nfchain.dev/nfchain/internal/engine/buildah"
	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

const (
	// buildVariable of the environment names the directory where images are built for engines that build none, where it is not buildUsual.
	buildVariable = "NFCHAIN_BUILD"
	buildUsual    = "/var/lib/nfchain/build"
)

// built has an image that is wanted built from a directory with a Dockerfile, for an engine that builds none, and has it used as a tarball,
// which is gone afterwards. Who calls this has locked the image of that engine's.
func built(ctx context.Context, engine string, w Wanted, s image.Source, progress func(string), use func(tarball image.Source) error) (err error) {
	dir, err := filepath.Abs(cmp.Or(os.Getenv(buildVariable), buildUsual))
	if err != nil {
		return err
	}
	_, tag, _ := strings.Cut(w.Image, ":")
	aside := filepath.Join(dir, engine+"-"+tag+asideEnd)
	if err := errors.Join(os.RemoveAll(aside), sweep(dir, builtOf)); err != nil { // of those that were killed
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	if err := os.MkdirAll(aside, 0o700); err != nil { // nobody else gets at programs in it that have another's rights
		return err
	}
	tarball := filepath.Join(aside, "image.tar")
	if err := buildInto(ctx, tarball, filepath.Join(dir, buildah.Program), w, s, progress); err != nil {
		return err
	}
	made, err := image.Open(tarball)
	if err != nil {
		return fmt.Errorf("build an image from %s: what came of it %w", s.Path, err)
	}
	return use(made)
}

// asideEnd ends the name of a directory that has what is needed, or comes to be, while an image is made.
const asideEnd = ".part"

// sweep a directory of what those left who were killed: each has a name that ends so, and goes where nobody has the lock of what is made there, whose
// name is of that of the directory, without its end.
func sweep(dir string, making func(of string) string) error {
	left, err := filepath.Glob(filepath.Join(dir, "*"+asideEnd))
	for _, aside := range left {
		lock, taken := rundir.Take(makingFile(making(strings.TrimSuffix(filepath.Base(aside), asideEnd))))
		if taken != nil {
			continue
		}
		err = errors.Join(err, os.RemoveAll(aside))
		lock.Release()
	}
	return err
}

// builtOf is the name of what a build makes, ENGINE-TAG.
func builtOf(aside string) string {
	engine, tag, _ := strings.Cut(aside, "-")
	return engine + " " + image.Repository + ":" + tag
}

// buildInto a tarball, by who builds here: Docker, or Podman, or where neither answers the program buildah, which has its images in a directory.
func buildInto(ctx context.Context, tarball, images string, w Wanted, s image.Source, progress func(string)) error {
	for _, by := range []speaker{asDocker, asPodman} {
		opened, err := by.open(ctx)
		if errors.Is(err, ErrNotThere) {
			continue
		}
		if err != nil {
			return err
		}
		defer func() { _ = opened.Close() }()
		return patient{opened, usual}.limited(ctx, false, "build an image from "+s.Path, func(ctx context.Context) error {
			return opened.(docker).build(ctx, tarball, w, progress)
		})
	}
	if _, err := exec.LookPath(buildah.Program); err != nil {
		return fmt.Errorf("build an image from %s: nothing that builds is here; start Docker (%s) or Podman (%s), or install buildah (apt-get install %s)",
			s.Path, asDocker.start, asPodman.start, buildah.Program)
	}
	if !lxcTakes.MatchString(images) {
		return fmt.Errorf("build an image from %s: buildah cannot have images in %q; set %s to a directory whose name has letters, digits, and ./_- only", s.Path, images, buildVariable)
	}
	lock, err := taking(ctx, images+".lock", "waiting until another image is built", progress)
	if err != nil {
		return err
	}
	defer lock.Release()
	b := buildah.Builder{Images: images, Aside: filepath.Dir(tarball), Tell: func(text string) {
		if progress != nil {
			progress(fmt.Sprintf("building an image from %s: %s", s.Path, text))
		}
	}}
	if err := b.Build(ctx, s, w.Image, tarball); err != nil {
		return fmt.Errorf("build an image from %s: %w", s.Path, err)
	}
	return nil
}

// build a local image, unless the engine has it, and write a tarball of it.
func (d docker) build(ctx context.Context, tarball string, w Wanted, progress func(string)) error {
	if _, err := d.local(ctx, w, progress); err != nil {
		return err
	}
	r, err := d.ImageSave(ctx, []string{w.Image})
	if err == nil {
		err = saved(r, tarball)
	}
	if err != nil {
		return fmt.Errorf("save image %s of %s: %w", w.Image, d.title, err)
	}
	return nil
}

// saved is what an engine gives of an image, in a file.
func saved(r client.ImageSaveResult, name string) error {
	defer func() { _ = r.Close() }()
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	return errors.Join(err, file.Close())
}

// bring containerd what is not built, as an image of this name.
func (d containerd) bring(ctx context.Context, s image.Source, name string) error {
	content, w := io.Pipe()
	defer func() { _ = content.Close() }()
	go func() { _ = w.CloseWithError(s.Write(w, name)) }()
	if _, err := d.client.Import(ctx, content); err != nil {
		return fmt.Errorf("load an image from %s: %w", s.Path, err)
	}
	return nil
}
