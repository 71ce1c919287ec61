// Package buildah builds images by the program buildah, where no engine that builds is there. What images it has, those that others
// are built from among them, is kept in a directory of nfchain's. What it runs is seen by nobody else and ends with it.
package buildah

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/distribution/reference"

	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/engine/login"
)

// Program is its name, and that of Debian's package.
const Program = "buildah"

// Builder is buildah with images of its own. It builds one image at a time.
type Builder struct {
	// Images is the directory that has them.
	Images string
	// Aside is a directory for what one build needs, which is there, and is removed by whoever made it.
	Aside string
	// Tell is told what it says, line by line; it may be nil.
	Tell func(string)
}

// Build an image of this name from a directory with a Dockerfile, unless it is there, and write a tarball of it as docker save does. What
// builds that were killed have left is removed before, and what this one leaves afterwards.
func (b Builder) Build(ctx context.Context, s image.Source, name, tarball string) (err error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return err
	}
	whole := named.String() // with the registry that Dockerfiles leave away, which buildah would have be another
	quiet := b
	quiet.Tell = nil
	if err := b.clear(ctx); err != nil {
		return err
	}
	if quiet.run(ctx, "inspect", "--type", "image", whole) != nil {
		defer func() {
			if err != nil {
				clearing, stop := context.WithTimeout(context.WithoutCancel(ctx), clearsWithin)
				defer stop()
				err = errors.Join(err, b.clear(clearing))
			}
		}()
		if err := b.build(ctx, s, name, whole); err != nil {
			return err
		}
	}
	return quiet.run(ctx, "push", whole, "docker-archive:"+tarball+":"+name)
}

// clearsWithin is how long it may take to remove what a build has left.
const clearsWithin = 30 * time.Second

// clear the containers away in which steps of builds ran that came to no end. Nobody else has any there.
func (b Builder) clear(ctx context.Context) error {
	b.Tell = nil
	return b.run(ctx, "rm", "--all")
}

func (b Builder) build(ctx context.Context, s image.Source, name, whole string) error {
	from := filepath.Join(b.Aside, "context")
	if err := os.Mkdir(from, 0o755); err != nil {
		return err
	}
	if err := s.Copy(ctx, from, name); err != nil {
		return err
	}
	ignored := filepath.Join(from, ".dockerignore")
	if _, err := os.Stat(ignored); err != nil {
		ignored = os.DevNull // and no .containerignore, which Docker does not know either
	}
	return b.run(ctx, "build", "--isolation", "chroot", "--format", "docker", "--layers", "--force-rm", "--pull=false",
		"--ignorefile", ignored, "--file", filepath.Join(from, image.Dockerfile), "--tag", whole, from)
}

// within is what runs buildah where steps of builds see the processes of their namespace alone.
var within = []string{"sh", "-c", `mount -t proc proc /proc && exec "$@"`, Program}

// run buildah, in a namespace of mounts, so that none of its mounts is left, and in one of processes, so that no step of a build is.
func (b Builder) run(ctx context.Context, args ...string) error {
	env, err := b.environment()
	if err != nil {
		return err
	}
	said := lines{tell: b.Tell}
	words := slices.Concat(within, []string{Program, "--root", b.Images, "--runroot", filepath.Join(b.Aside, "run")}, args)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.WaitDelay = time.Second
	runtime.LockOSThread() // whose end would be the program's, for Pdeathsig
	defer runtime.UnlockOSThread()
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%s %s: %w%s", Program, args[0], err, said.last())
	}
	return nil
}

// environment has its temporary files aside, and names without a registry be Docker's, as they are in every Dockerfile.
func (b Builder) environment() ([]string, error) {
	env := append(os.Environ(), "TMPDIR="+b.Aside)
	text, differ, err := registries()
	if err != nil || !differ {
		return env, err
	}
	name := filepath.Join(b.Aside, "registries.conf")
	return append(env, registriesVariable+"="+name), os.WriteFile(name, text, 0o600)
}

// registriesVariable of the environment names the file that says of which registries images are (containers-registries.conf(5)), where it
// is not registriesUsual.
const (
	registriesVariable = "CONTAINERS_REGISTRIES_CONF"
	registriesUsual    = "/etc/containers/registries.conf"
)

// registriesOwn is the user's own file, which counts in the place of the machine's where it is there.
func registriesOwn() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	name := filepath.Join(home, ".config/containers/registries.conf")
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

// searched is what such a file says of names without a registry, in this version of its format or the one before.
var searched = regexp.MustCompile(`(?m)^\s*(unqualified-search-registries\s*=|\[registries\.)`)

// registries is the user's or the machine's file with what it lacks; it differs where it lacked something.
func registries() (text []byte, differ bool, err error) {
	name := cmp.Or(os.Getenv(registriesVariable), registriesOwn(), registriesUsual)
	text, err = os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || searched.Match(text) {
		return nil, false, err
	}
	return append(fmt.Appendf(nil, "unqualified-search-registries = [%q]\n", login.Hub), text...), true, nil
}

const (
	// lastLines of what it says are shown when it fails.
	lastLines = 5
	// longestLine that is shown of what it says.
	longestLine = 1000
)

// lines of what a program says, told one by one.
type lines struct {
	tell  func(string)
	begun []byte
	all   []string
}

func (l *lines) Write(text []byte) (int, error) {
	l.begun = append(l.begun, text...)
	for {
		end := bytes.IndexAny(l.begun, "\r\n")
		if end < 0 && len(l.begun) < longestLine {
			return len(text), nil
		}
		if end < 0 {
			end = len(l.begun) - 1
		}
		l.take(l.begun[:end+1])
		l.begun = l.begun[end+1:]
	}
}

func (l *lines) take(line []byte) {
	text := strings.TrimSpace(string(line[:min(len(line), longestLine)]))
	if text == "" {
		return
	}
	l.all = append(l.all, text)
	l.all = l.all[max(0, len(l.all)-lastLines):]
	if l.tell != nil {
		l.tell(text)
	}
}

// last of them, for the error of a program that has ended.
func (l *lines) last() string {
	l.take(l.begun)
	if len(l.all) == 0 {
		return ""
	}
	return "; the last that it said:\n" + strings.Join(l.all, "\n")
}
