package rundir

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Keep writes a file whole or not at all, with the directory that it lies in. What a process
// that was killed between leaves there has another name, and the next takes it over.
func Keep(path string, text []byte, mode fs.FileMode) error {
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	part := filepath.Join(dir, ".part-"+name)
	if err := os.WriteFile(part, text, mode); err != nil {
		return err
	}
	if err := os.Chmod(part, mode); err != nil { // of one that was left
		return err
	}
	return os.Rename(part, path)
}
