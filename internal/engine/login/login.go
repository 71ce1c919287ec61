// Package login finds what users have logged in to registries of images with, where `docker login`, `podman login` and `nerdctl login` keep
// it: in files of the user's, and with programs that those name. It reads them and no more: who is to log in does so by these tools.
package login

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/distribution/reference"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/config/types"
)

// Login to a registry. Its secrets are for the registry alone: no error and no log has them.
type Login struct {
	// Username and Password, or Token, which the registry gave for them and takes in their place.
	Username, Password, Token string
	// RegistryToken is sent to the registry as it is.
	RegistryToken string
	// From says where it is kept, for people; "" is no login.
	From string
}

// Hub is the registry of images that are named without one, and hubAddress is what logins to it are kept under.
const (
	Hub        = "docker.io"
	hubAddress = "https://index." + Hub + "/v1/"
)

// Address of the registry that an image is from, as logins to it are kept under.
func Address(image reference.Named) string {
	if host := reference.Domain(image); host != Hub {
		return host
	}
	return hubAddress
}

// DockerFiles are where `docker login` and `nerdctl login` keep logins: none where neither DOCKER_CONFIG nor HOME says.
func DockerFiles() []string {
	return within("DOCKER_CONFIG", ".docker", "config.json")
}

// PodmanFiles are where `podman login` does, and where it looks besides (containers-auth.json(5)).
func PodmanFiles() []string {
	if file := os.Getenv("REGISTRY_AUTH_FILE"); file != "" {
		return []string{file}
	}
	const name = "containers/auth.json"
	own := filepath.Join("/run/containers", fmt.Sprint(os.Getuid()), "auth.json")
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		own = filepath.Join(dir, name)
	}
	return append(append([]string{own}, within("XDG_CONFIG_HOME", ".config", name)...), DockerFiles()...)
}

// within the directory that a variable names, or else one of the user's home.
func within(variable, dir, name string) []string {
	if at := os.Getenv(variable); at != "" {
		return []string{filepath.Join(at, name)}
	}
	if home := os.Getenv("HOME"); home != "" {
		return []string{filepath.Join(home, dir, name)}
	}
	return nil
}

// helperTakes is how long a program may take to tell a login: somebody may have to type what opens its store.
const helperTakes = 30 * time.Second

// Find the login to the registry that an image is from, in the first of these files that has one. The error tells of the files that were not
// read, and of programs that did not answer; there may be a login nevertheless, and who needs none need not care.
func Find(ctx context.Context, image reference.Named, files []string) (Login, error) {
	return find(ctx, image, files, helperTakes)
}

func find(ctx context.Context, image reference.Named, files []string, takes time.Duration) (Login, error) {
	var unread []error
	for _, name := range files {
		found, err := in(ctx, image, name, takes)
		if err != nil {
			unread = append(unread, fmt.Errorf("%s: %w", name, err))
		}
		if found.From != "" {
			return found, errors.Join(unread...)
		}
	}
	return Login{}, errors.Join(unread...)
}

// in a file is a login, or none. Where it names a program for the registry that is asked first.
func in(ctx context.Context, image reference.Named, name string, takes time.Duration) (Login, error) {
	config, err := read(name)
	if err != nil || config == nil {
		return Login{}, err
	}
	address, suffix := Address(image), config.CredentialsStore
	if key, is := closest(config.CredentialHelpers, image); is {
		address, suffix = key, config.CredentialHelpers[key]
	}
	var unheard error
	if suffix != "" {
		var found Login
		if found, unheard = ask(ctx, suffix, address, takes); found.From != "" {
			found.From += ", which " + name + " names"
			return found, nil
		}
	}
	kept := config.AuthConfigs
	for key, one := range kept {
		if !of(one, name).any() {
			delete(kept, key) // which is kept by the program
		}
	}
	key, is := closest(kept, image)
	if !is {
		return Login{}, unheard
	}
	return of(kept[key], name), unheard
}

// All logins that these files have, by the addresses that they are for, for who is to fetch images that nobody knows yet. The error tells of the files
// that were not read, and of programs that did not answer.
func All(ctx context.Context, files []string) (map[string]Login, error) {
	all := map[string]Login{}
	var unread []error
	for _, name := range files {
		config, err := read(name)
		if err != nil {
			unread = append(unread, fmt.Errorf("%s: %w", name, err))
		}
		if config == nil || err != nil {
			continue
		}
		// What a program keeps has an entry without a login, or names the program.
		entries := map[string]string{}
		for key := range config.AuthConfigs {
			entries[key] = config.CredentialsStore
		}
		for address, by := range config.CredentialHelpers {
			if by != "" {
				entries[address] = by
			}
		}
		addresses := slices.Sorted(maps.Keys(entries))
		kept, unheard := askAll(ctx, addresses, entries)
		for i, address := range addresses {
			if unheard[i] != nil {
				unread = append(unread, fmt.Errorf("%s: %w", name, unheard[i]))
			}
			found := kept[i]
			if !found.any() {
				found = of(config.AuthConfigs[address], name)
			}
			if _, is := all[address]; !is && found.any() {
				all[address] = found
			}
		}
	}
	return all, errors.Join(unread...)
}

// askAll programs that keep logins for these to their addresses, at the same time, so that they take no longer together than one may.
func askAll(ctx context.Context, addresses []string, by map[string]string) (kept []Login, unheard []error) {
	kept, unheard = make([]Login, len(addresses)), make([]error, len(addresses))
	var asked sync.WaitGroup
	for i, address := range addresses {
		if by[address] == "" {
			continue
		}
		asked.Add(1)
		go func() {
			defer asked.Done()
			kept[i], unheard[i] = ask(ctx, by[address], address, helperTakes)
		}()
	}
	asked.Wait()
	return kept, unheard
}

// any tells whether there is something to log in with.
func (l Login) any() bool { return l.Username != "" || l.Token != "" || l.RegistryToken != "" }

func of(a types.AuthConfig, from string) Login {
	return Login{Username: a.Username, Password: a.Password, Token: a.IdentityToken, RegistryToken: a.RegistryToken, From: from}
}

// read a file; nil where there is none.
func read(name string) (*configfile.ConfigFile, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Unwrap(err) // the caller names the file
	}
	defer func() { _ = file.Close() }()
	config := configfile.New(name)
	if err := config.LoadFromReader(file); err != nil {
		return nil, fmt.Errorf("it is not as `docker login` writes it: %w; mend it, or move it away and log in again", err)
	}
	return config, nil
}

// closest of what is kept, by registries and what is below them, to an image: Podman keeps a login for a part of a registry, too.
func closest[Kept any](kept map[string]Kept, image reference.Named) (best string, is bool) {
	longest := 0
	for key := range kept {
		where := place(key)
		if within := image.Name() == where || strings.HasPrefix(image.Name(), where+"/"); within && len(where) > longest {
			best, longest, is = key, len(where), true
		}
	}
	return best, is
}

// place that a login is for, as names of images begin with it. What is written as an address is the whole registry's, whatever its path.
func place(key string) string {
	_, rest, is := strings.Cut(key, "://")
	if is {
		key, _, _ = strings.Cut(rest, "/")
	}
	key = strings.TrimSuffix(key, "/")
	switch key {
	case "index." + Hub, "registry-1." + Hub:
		return Hub
	}
	return key
}
