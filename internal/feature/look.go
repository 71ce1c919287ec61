package feature

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errNotFound is a tool that lies in none of the directories looked in.
var errNotFound = errors.New("not found")

// look finds a program in Path. Relative directories are passed over, as
// os/exec does: they would run what a chain's author left lying about.
func (e Env) look(program string) (string, error) {
	for _, dir := range filepath.SplitList(e.Path) {
		if path := filepath.Join(dir, program); filepath.IsAbs(dir) && executable(path) {
			return path, nil
		}
	}
	// Debian leaves these out of the PATH of those who are not root.
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if executable(filepath.Join(dir, program)) {
			return "", outsidePath{program, dir}
		}
	}
	return "", fmt.Errorf("%s %w in PATH", program, errNotFound)
}

// outsidePath is a tool that is installed where PATH does not lead.
type outsidePath struct{ program, dir string }

func (o outsidePath) Error() string {
	return fmt.Sprintf("%s is in %s, which PATH does not name", o.program, o.dir)
}

func (o outsidePath) fix() string { return "export PATH=$PATH:" + o.dir }

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
