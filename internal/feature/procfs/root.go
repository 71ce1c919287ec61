// Package procfs reads /proc and /sys under a root that tests can replace. What
// cannot be read is reported as not there, never as zero. It writes nothing.
package procfs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Root is the directory that holds proc, sys and etc: "/" on a real machine.
// The empty Root is "/" too.
type Root string

// Path is where a file named from the root ("proc/stat") lies.
func (r Root) Path(name string) string {
	if r == "" {
		r = "/"
	}
	return filepath.Join(string(r), name)
}

// Text is the content of a file without the space around it, and whether it
// could be read and held anything. A trailing NUL, as the device tree has, is
// dropped.
func (r Root) Text(name string) (string, bool) {
	b, err := os.ReadFile(r.Path(name))
	if err != nil {
		return "", false
	}
	s := strings.Trim(string(b), " \t\r\n\x00")
	return s, s != ""
}

// Uint is the unsigned number a file holds.
func (r Root) Uint(name string) (uint64, bool) {
	s, ok := r.Text(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// Int is the signed number a file holds.
func (r Root) Int(name string) (int64, bool) {
	s, ok := r.Text(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// Exists tells whether a file or directory is there.
func (r Root) Exists(name string) bool {
	_, err := os.Stat(r.Path(name))
	return err == nil
}

// Glob lists what matches a pattern, named from the root, in natural order:
// cpu2 before cpu10.
func (r Root) Glob(pattern string) []string {
	paths, err := filepath.Glob(r.Path(pattern))
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(paths))
	for _, p := range paths {
		name, err := filepath.Rel(r.Path(""), p)
		if err == nil {
			names = append(names, name)
		}
	}
	sortNatural(names)
	return names
}

// Link is where a symbolic link leads, empty where there is none.
func (r Root) Link(name string) string {
	target, err := os.Readlink(r.Path(name))
	if err != nil {
		return ""
	}
	return target
}
