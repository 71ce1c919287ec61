package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// making takes an image for being made: functions that are made from it, of whatever chains, do not have it made once each. Who
// waits tells it.
func making(ctx context.Context, name string, progress func(string)) (*rundir.Lock, error) {
	return taking(ctx, makingFile(name), "waiting until another has made image "+name, progress)
}

// taking a lock waits for whoever has it, and tells that in these words.
func taking(ctx context.Context, at, waiting string, progress func(string)) (*rundir.Lock, error) {
	for told := false; ; {
		lock, err := rundir.Take(at)
		if taken := (*rundir.TakenError)(nil); err == nil || !errors.As(err, &taken) {
			return lock, err
		}
		if !told && progress != nil {
			progress(waiting)
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// makingFile is locked while an image is made. No chain has such a name.
func makingFile(name string) string {
	return filepath.Join(rundir.Locks, url.PathEscape("/image/"+name)+".lock")
}

// local image, loaded or built where the engine has none of its name, which is another when its content is.
func (d docker) local(ctx context.Context, w Wanted, progress func(string)) (found, error) {
	f, err := d.look(ctx, w.Image)
	if !errdefs.IsNotFound(err) {
		return f, err
	}
	lock, err := making(ctx, w.Image, progress)
	if err != nil {
		return f, err
	}
	defer lock.Release()
	if f, err = d.look(ctx, w.Image); !errdefs.IsNotFound(err) { // made meanwhile
		return f, err
	}
	s, err := source(w)
	if err != nil {
		return f, err
	}
	if err := d.make(ctx, s, w.Image, progress); err != nil {
		return f, err
	}
	return d.look(ctx, w.Image)
}

// source of an image that is not there.
func source(w Wanted) (image.Source, error) {
	s, err := image.Open(w.From)
	name := ""
	if err == nil {
		name, err = s.Name()
	}
	switch {
	case err != nil:
		return s, fmt.Errorf("image %s %w, and cannot be made again: %s: %w", w.Image, ErrNotThere, w.From, err)
	case name != w.Image:
		return s, fmt.Errorf("image %s %w, and %s has changed since; `nfchain up FILE` makes one of what it is now", w.Image, ErrNotThere, w.From)
	}
	return s, nil
}

// make an image of that name.
func (d docker) make(ctx context.Context, s image.Source, name string, progress func(string)) error {
	content, w := io.Pipe()
	defer func() { _ = content.Close() }()
	go func() { _ = w.CloseWithError(s.Write(w, name)) }()
	verb, answer, err := "load", io.ReadCloser(nil), error(nil)
	failed := func(err error) error { return fmt.Errorf("%s an image from %s: %w", verb, s.Path, err) }
	if s.Built {
		verb = "build"
		if progress != nil {
			progress("looking for logins to registries")
		}
		logins, unread := d.toBuild(ctx)
		plain := failed
		failed = func(err error) error { return d.unbuilt(plain(err), unread) }
		var r client.ImageBuildResult
		r, err = d.ImageBuild(ctx, content, client.ImageBuildOptions{Tags: []string{name}, Dockerfile: image.Dockerfile, Remove: true, ForceRemove: true, Version: build.BuilderV1, AuthConfigs: logins})
		answer = r.Body
	} else {
		answer, err = d.ImageLoad(ctx, content)
	}
	if err != nil {
		return failed(err)
	}
	defer func() { _ = answer.Close() }()
	if err := follow(answer, func(text string) {
		if progress != nil {
			progress(fmt.Sprintf("%sing an image from %s: %s", verb, s.Path, text))
		}
	}); err != nil {
		return failed(err)
	}
	return nil
}

// lastLines of what an engine tells are shown when it fails.
const lastLines = 5

// follow what an engine tells of its work, to its end.
func follow(r io.Reader, tell func(string)) error {
	var last []string
	for d := json.NewDecoder(r); ; {
		var m jsonstream.Message
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if m.Error != nil {
			said := strings.Join(last, "\n")
			if said == "" {
				return m.Error
			}
			return fmt.Errorf("%w; the last that it said:\n%s", m.Error, said)
		}
		text := strings.TrimSpace(m.Stream)
		if p := m.Progress; p != nil && p.Total > 0 {
			text = fmt.Sprintf("%d%%", 100*p.Current/p.Total)
		} else if text != "" {
			last = append(last, text)
			last = last[max(0, len(last)-lastLines):]
		}
		if text != "" {
			tell(text)
		}
	}
}
