package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// unlikeFile tells of a chain that it was begun to change so that flows which stay on their path would not meet its functions without a
// namespace as others do, and that not all of its ports were turned since. Whatever it is to be next, no flow stays.
func unlikeFile(owner string) string { return filepath.Join(StateDir(owner), "unlike") }

func unlikeNoted(owner string) bool {
	_, err := os.Stat(unlikeFile(owner))
	return err == nil
}

func noteUnlike(owner string) error {
	if err := rundir.Keep(unlikeFile(owner), nil, 0o644); err != nil {
		return fmt.Errorf("note that flows go the new path at once: %w", err)
	}
	return nil
}

// turned forgets that, if it is noted: all ports are turned, and no flow stays on a path that meets others.
func (w *work) turned() error {
	if w.dry {
		return nil
	}
	if err := os.Remove(unlikeFile(w.owner)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget that flows go the new path at once: %w", err)
	}
	return nil
}
