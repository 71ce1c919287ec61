package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/containerd/v2/plugins/content/local"
	"github.com/containerd/platforms"
	"github.com/distribution/reference"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"

	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/engine/login"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// named is an image that is wanted by its name, fetched if it is to be. nfchain fetches it by itself: LXC has nobody who would.
func (l lxc) named(ctx context.Context, w Wanted, progress func(string)) (u unpacked, err error) {
	named, err := reference.ParseNormalizedNamed(w.Image)
	if err != nil {
		return u, fmt.Errorf("image %q: %w", w.Image, err)
	}
	named = reference.TagNameOnly(named)
	if w.Pull != "always" {
		u, err = l.kept(named)
		switch {
		case err == nil:
			return u, nil
		case !errors.Is(err, fs.ErrNotExist):
			return u, fmt.Errorf("look at image %s: %w", w.Image, err)
		case w.Pull == "never":
			return u, fmt.Errorf("image %s %w, and pull: never keeps it from being fetched; have it fetched once by pull: missing, or write the path of a tarball of it, which docker save -o FILE.tar makes", w.Image, ErrNotThere)
		}
	}
	return l.fetch(ctx, w.Image, named, progress)
}

// fetched is an image that was, or is to be: what it is called by is its digest.
func (l lxc) fetched(digest string) unpacked {
	return unpacked{called: digest, dir: filepath.Join(l.images(), strings.ReplaceAll(digest, ":", "-"))}
}

// note is the file that has the digest of what was last fetched by a name with a tag.
func (l lxc) note(name reference.Named) string {
	return filepath.Join(l.images(), "names", name.String())
}

// kept is an image that was fetched before, by the digest in its name, or by the note of it.
func (l lxc) kept(name reference.Named) (u unpacked, err error) {
	if by, is := name.(reference.Digested); is {
		u = l.fetched(by.Digest().String())
		return u, u.read()
	}
	text, err := os.ReadFile(l.note(name))
	if err != nil {
		return u, err
	}
	u = l.fetched(strings.TrimSpace(string(text)))
	return u, u.read()
}

// fetch an image, of which as is the name in the file. What it has is fetched where it is not there, by whatever name it came.
func (l lxc) fetch(ctx context.Context, as string, named reference.Named, progress func(string)) (u unpacked, err error) {
	f, err := toResolve(ctx, as, login.PodmanFiles(), Docker, Podman, "buildah")
	if err != nil {
		return u, err
	}
	if progress != nil {
		progress("fetching image " + as)
	}
	from := f.resolver()
	name, target, err := from.Resolve(ctx, named.String())
	if err != nil {
		return u, f.failed(err)
	}
	u = l.fetched(target.Digest.String())
	err = u.once(ctx, u.called, progress, func() error {
		fetcher, err := from.Fetcher(ctx, name)
		if err != nil {
			return f.failed(err)
		}
		return u.fill(func(files string) (imagespec.ImageConfig, error) {
			return f.unpack(ctx, fetcher, target, files, progress)
		})
	})
	if _, is := named.(reference.Digested); err == nil && !is {
		err = l.noteOf(ctx, named, u)
	}
	return u, err
}

// noteOf a name is written by one at a time.
func (l lxc) noteOf(ctx context.Context, name reference.Named, u unpacked) error {
	lock, err := making(ctx, LXC+" names", nil)
	if err != nil {
		return err
	}
	defer lock.Release()
	return rundir.Keep(l.note(name), []byte(u.called), 0o600)
}

// unpack what is fetched into a directory, beside which it lies meanwhile, and give what the image says of what it runs.
func (f fetching) unpack(ctx context.Context, from remotes.Fetcher, target imagespec.Descriptor, files string, progress func(string)) (of imagespec.ImageConfig, err error) {
	aside := files + ".fetched"
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	store, err := local.NewStore(aside)
	if err != nil {
		return of, err
	}
	over := f.watched(ctx, store, progress)
	manifest, config, err := f.into(ctx, store, from, target)
	over()
	if err != nil {
		return of, err
	}
	if progress != nil {
		progress("unpacking image " + f.name)
	}
	var layers []string
	at := map[string]string{}
	for _, layer := range manifest.Layers {
		name := layer.Digest.String()
		layers = append(layers, name)
		at[name] = filepath.Join(aside, "blobs", layer.Digest.Algorithm().String(), layer.Digest.Encoded()) // as in an OCI layout
	}
	if of, err = image.Lay(ctx, config, layers, at, files); err != nil {
		return of, fmt.Errorf("unpack image %s: %w", f.name, err)
	}
	return of, nil
}

// into a store comes what of an image is for this machine, each part by its digest: its layers, when its configuration says that it is.
func (f fetching) into(ctx context.Context, store content.Store, from remotes.Fetcher, target imagespec.Descriptor) (manifest imagespec.Manifest, config []byte, err error) {
	ours, fetch := platforms.Default(), remotes.FetchHandler(store, from)
	parts := images.LimitManifests(images.FilterPlatforms(images.ChildrenHandler(store), ours), ours, 1)
	layers := func(_ context.Context, part imagespec.Descriptor) ([]imagespec.Descriptor, error) {
		if images.IsLayerType(part.MediaType) {
			return nil, images.ErrSkipDesc // for now
		}
		return nil, nil
	}
	err = images.Dispatch(ctx, images.Handlers(images.HandlerFunc(layers), fetch, parts), nil, target)
	if err == nil {
		manifest, err = images.Manifest(ctx, store, target, ours)
	}
	if err == nil {
		config, err = content.ReadBlob(ctx, store, manifest.Config)
	}
	if err != nil {
		if others := offered(ctx, store, target); others != "" {
			return manifest, nil, f.foreign(others)
		}
		return manifest, nil, f.failed(err)
	}
	var is imagespec.Image
	if err := json.Unmarshal(config, &is); err == nil && !runs(is.Architecture) {
		return manifest, nil, f.foreign(is.Architecture)
	}
	if err := images.Dispatch(ctx, fetch, nil, manifest.Layers...); err != nil {
		return manifest, nil, f.failed(err)
	}
	return manifest, config, nil
}

// offered is the architectures that an image is for, where it is for several and none of them is this machine's; "" otherwise.
func offered(ctx context.Context, from content.Provider, target imagespec.Descriptor) string {
	var all []string
	each, _ := images.Children(ctx, from, target)
	for _, one := range each {
		switch {
		case one.Platform == nil || one.Platform.Architecture == "unknown": // which is that of what tells of an image
		case platforms.Default().Match(*one.Platform):
			return ""
		default:
			all = append(all, one.Platform.Architecture)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// foreign is the error of an image for other architectures.
func (f fetching) foreign(architectures string) error {
	return foreignImage(f.name, architectures, fmt.Sprintf("name one that its registry has for linux/%s, or write the path of a directory with a Dockerfile", runtime.GOARCH))
}
