package image

import (
	"archive/tar"
	"context"
	"io"

	containerd "github.com/containerd/containerd/v2/pkg/archive"
)

// Copy what an image of this name is built from into a directory, which is there and empty, as an engine that builds is given it: without
// what is left out, and an error where it has changed since it was named.
func (s Source) Copy(ctx context.Context, into, name string) error {
	content, w := io.Pipe()
	defer func() { _ = content.Close() }()
	go func() { _ = w.CloseWithError(s.Write(w, name)) }()
	// A file whose name says in a layer that another is gone is one like any other here.
	asIs := containerd.WithConvertWhiteout(func(*tar.Header, string) (bool, error) { return true, nil })
	if _, err := containerd.Apply(ctx, into, content, asIs); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, content) // to where its name has been looked at once more
	return err
}
