// Package published holds the experiments of the source documents, one file each,
// under the id that claims refer to: livi2016/fig7.
package published

import (
	"embed"
	"io/fs"
	"path"
	"sort"
	"strings"
)

//go:embed */*.yaml
var files embed.FS

// IDs lists every published experiment.
func IDs() []string {
	names, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], path.Ext(names[i]))
	}
	sort.Strings(names)
	return names
}

// Read gives the text of an experiment; fs.ErrNotExist where there is none of
// that id.
func Read(id string) ([]byte, error) { return files.ReadFile(id + ".yaml") }
