package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"

	containerdclient "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/remotes"
	remote "github.com/containerd/containerd/v2/core/remotes/docker"
	"github.com/distribution/reference"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"nfchain.dev/nfchain/internal/engine/login"
)

// fetching is an image that is fetched, with what its registry is logged in to with.
type fetching struct {
	// name as the file has it, the registry that it is from, and the address under which a login to that is kept.
	name, registry, address string
	login.Login
	// unread is what is wrong with where logins are kept, which matters where the registry refuses.
	unread error
	// files are where they are kept, and keeping is what keeps one there.
	files   []string
	keeping string
}

// toFetch an image by its name, with the user's login to its registry that one of these files has, where one of these tools kept it.
func toFetch(ctx context.Context, name string, files []string, tools ...string) (fetching, error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return fetching{}, fmt.Errorf("image %q: %w", name, err)
	}
	f := fetching{name: name, registry: reference.Domain(named), address: login.Address(named), files: files}
	for i, tool := range tools {
		tools[i] = tool + " login " + f.registry
	}
	f.keeping = strings.Join(tools, " or ")
	f.Login, f.unread = login.Find(ctx, named, files)
	return f, nil
}

// refused is what engines say of a registry that does not let them have an image; some do so of one that is not there, too.
var refused = regexp.MustCompile(`(?i)unauthorized|authentication required|no basic auth credentials|pull access denied|access to the resource is denied|invalid username/password|status[^:]*: 40[13]|forbidden`)

// failed is the error of an image that was not fetched, which says what to do where its registry let nobody have it.
func (f fetching) failed(err error) error {
	err = fmt.Errorf("fetch image %s: %w", f.name, err)
	again := fmt.Sprintf("(%s), as the user who runs nfchain and with the same HOME", f.keeping)
	switch {
	case !refused.MatchString(err.Error()):
		return err
	case f.unread != nil:
		return fmt.Errorf("%w; what to log in to %s with was not all read: %s", err, f.registry, strings.ReplaceAll(f.unread.Error(), "\n", "; "))
	case f.From != "":
		return fmt.Errorf("%w; %s does not let in who logs in as %s has it, or not to this image; log in to it again %s", err, f.registry, f.From, again)
	case len(f.files) == 0:
		return fmt.Errorf("%w; no login to %s was looked for, since HOME is not set; set it, and log in to it %s", err, f.registry, again)
	}
	return fmt.Errorf("%w; there is no login to %s in %s; if it takes one, log in to it %s", err, f.registry, strings.Join(f.files, " or "), again)
}

// header by which an engine with Docker's API is told the login; "" is none. Podman takes the name of the registry that it is for with it, but
// for tokens, and so gives it to no other that it looks for the image in.
func (f fetching) header(podman bool) (string, error) {
	if f.From == "" {
		return "", nil
	}
	auth := shown(f.Login, f.address)
	if !podman || f.Username == "" {
		return authconfig.Encode(auth)
	}
	text, err := json.Marshal(map[string]registry.AuthConfig{f.registry: auth})
	return base64.URLEncoding.EncodeToString(text), err
}

// toResolve is toFetch for who fetches by a resolver.
func toResolve(ctx context.Context, name string, files []string, tools ...string) (fetching, error) {
	f, err := toFetch(ctx, name, files, tools...)
	if f.RegistryToken != "" && f.Username == "" && f.Token == "" {
		f.Login = login.Login{} // which that cannot send
	}
	return f, err
}

// registryWithin is how long a registry may take to begin to answer.
const registryWithin = time.Minute

// resolver by which containerd's library finds the image. The login is for its registry, whatever other hosts that sends to.
func (f fetching) resolver() remotes.Resolver {
	within := http.DefaultTransport.(*http.Transport).Clone()
	within.ResponseHeaderTimeout = registryWithin
	by := &http.Client{Transport: within}
	return remote.NewResolver(remote.ResolverOptions{Client: by, Authorizer: remote.NewDockerAuthorizer(remote.WithAuthClient(by), remote.WithAuthCreds(func(host string) (user, secret string, err error) {
		if its, err := remote.DefaultHost(f.registry); err != nil || host != its {
			return "", "", err
		}
		if f.Token != "" {
			return "", f.Token, nil
		}
		return f.Username, f.Password, nil
	}))})
}

// logins are the files that have the user's.
func (d docker) logins() []string {
	if d.name == Podman {
		return login.PodmanFiles()
	}
	return login.DockerFiles()
}

// shown is a login as Docker's API has it.
func shown(l login.Login, address string) registry.AuthConfig {
	return registry.AuthConfig{Username: l.Username, Password: l.Password, IdentityToken: l.Token, RegistryToken: l.RegistryToken, ServerAddress: address}
}

// toBuild are the user's logins, by registries, for what a Dockerfile names: the engine takes for each image that of its registry.
func (d docker) toBuild(ctx context.Context) (all map[string]registry.AuthConfig, unread error) {
	all = map[string]registry.AuthConfig{}
	kept, unread := login.All(ctx, d.logins())
	for address, one := range kept {
		all[address] = shown(one, address)
	}
	return all, unread
}

// unbuilt is the error of an image that was not built, which says what to do where a registry let nobody have what it is built from.
func (d docker) unbuilt(err, unread error) error {
	switch {
	case !refused.MatchString(err.Error()):
		return err
	case unread != nil:
		return fmt.Errorf("%w; what to log in to registries with was not all read: %s", err, strings.ReplaceAll(unread.Error(), "\n", "; "))
	}
	return fmt.Errorf("%w; where a registry takes a login, log in to it (%s login REGISTRY), as the user who runs nfchain and with the same HOME", err, d.name)
}

// pull an image, telling how far it is.
func (d docker) pull(ctx context.Context, name string, progress func(string)) error {
	if progress == nil {
		progress = func(string) {}
	}
	progress("fetching image " + name)
	f, err := toFetch(ctx, name, d.logins(), d.name)
	if err != nil {
		return err
	}
	auth, err := f.header(d.name == Podman)
	if err != nil {
		return f.failed(err)
	}
	r, err := d.ImagePull(ctx, name, client.ImagePullOptions{RegistryAuth: auth})
	if err != nil {
		return f.failed(err)
	}
	layers := map[string][2]int64{} // of each what has come, and what is to come
	for m, err := range r.JSONMessages(ctx) {
		if err == nil && m.Error != nil {
			err = m.Error
		}
		if err != nil {
			return f.failed(err)
		}
		if m.Progress == nil || m.Progress.Total <= 0 {
			continue
		}
		layers[m.ID] = [2]int64{m.Progress.Current, m.Progress.Total}
		var came, all int64
		for l := range maps.Values(layers) {
			came, all = came+l[0], all+l[1]
		}
		progress(fmt.Sprintf("fetching image %s: %d%%", name, 100*came/all))
	}
	return nil
}

// watched has it told how far the image is, by what comes into a store, until what it gives is called.
func (f fetching) watched(ctx context.Context, into content.IngestManager, progress func(string)) (over func()) {
	if progress == nil {
		return func() {}
	}
	progress("fetching image " + f.name)
	watching, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.watch(watching, into, progress)
	}()
	return func() { stop(); <-ended }
}

func (f fetching) watch(ctx context.Context, into content.IngestManager, progress func(string)) {
	most := map[string][2]int64{} // of each part what has come, and what is to come
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
		parts, err := into.ListStatuses(ctx)
		if err != nil {
			continue // one has come just now
		}
		for ref, part := range most {
			most[ref] = [2]int64{part[1], part[1]} // has come, if it is not listed any more
		}
		for _, s := range parts {
			most[s.Ref] = [2]int64{s.Offset, s.Total}
		}
		var came, all int64
		for _, part := range most {
			came, all = came+part[0], all+part[1]
		}
		if all > 0 {
			progress(fmt.Sprintf("fetching image %s: %d%%", f.name, 100*came/all))
		}
	}
}

// pull an image, telling how far it is.
func (d containerd) pull(ctx context.Context, name, as, keeps string, progress func(string)) (containerdclient.Image, error) {
	f, err := toResolve(ctx, as, login.DockerFiles(), Docker, "nerdctl")
	if err != nil {
		return nil, err
	}
	defer f.watched(ctx, d.client.ContentStore(), progress)()
	var image containerdclient.Image
	err = noted(func() (err error) {
		image, err = d.client.Pull(ctx, name, containerdclient.WithPullUnpack, containerdclient.WithPullSnapshotter(keeps), containerdclient.WithResolver(f.resolver()))
		return err
	})
	if err != nil {
		return nil, f.failed(err)
	}
	return image, forThisMachine(ctx, image, as)
}
