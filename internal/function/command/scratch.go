package command

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// checkScratch wants directories that can be the program's own, and files that lie in them.
func (o *Options) checkScratch(add func(path, format string, args ...any)) {
	for i, dir := range o.Scratch {
		switch {
		case !isBelowRoot(dir):
			add(fmt.Sprintf("scratch[%d]", i), "%q is not an absolute path of a directory below /, without . and ..", dir)
		case slices.Contains(o.Scratch[:i], dir):
			add(fmt.Sprintf("scratch[%d]", i), "%q is there twice", dir)
		case slices.ContainsFunc(systems, func(of string) bool { return isIn(dir, of) }):
			add(fmt.Sprintf("scratch[%d]", i), "%q is the system's, and the program needs what is there; use another, such as /srv", dir)
		}
	}
	paths := append(slices.Sorted(maps.Keys(o.Files)), o.Scratch...)
	for _, path := range paths[:len(o.Files)] {
		below := slices.IndexFunc(paths, func(other string) bool { return other != path && isIn(other, path) })
		switch {
		case below >= 0:
			add("files."+path, "%q is a directory, in which %s is; give the file another name", path, paths[below])
		case slices.Contains(o.Scratch, path):
			add("files."+path, "%q is a directory of scratch; give the file another name", path)
		case !isBelowRoot(path):
			add("files."+path, "%q is not an absolute path of a file, without . and ..", path)
		case !slices.ContainsFunc(o.Scratch, func(of string) bool { return path != of && isIn(path, of) }):
			add("files."+path, "%q is in no directory of scratch, and nothing is written anywhere else; write scratch: [%s]", path, filepath.Dir(path))
		}
	}
}

// systems are the directories that no program can do without.
var systems = []string{"/dev", "/etc", "/proc", "/sys"}

// isBelowRoot tells whether a path is one that nothing can be left out of.
func isBelowRoot(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && path != "/" && !strings.ContainsRune(path, 0)
}

// isIn tells whether a path is a directory or lies in it.
func isIn(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// InNamespace implements api.Housed.
func (o *Options) InNamespace() []api.FieldProblem {
	var wrong []api.FieldProblem
	if len(o.Scratch) > 0 {
		wrong = append(wrong, api.FieldProblem{Path: "scratch", Message: "is for a program in a namespace; a container has files of its own, which go with it"})
	}
	if len(o.Files) > 0 {
		wrong = append(wrong, api.FieldProblem{Path: "files", Message: "are for a program in a namespace; put them into the image, or write container: {mounts: ...}"})
	}
	return wrong
}
