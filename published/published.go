// Package published holds the experiments of the source documents, one file each,
// under the id that claims refer to: livi2016/fig7.
package published

import (
	"cmp"
	"embed"
	"io/fs"
	"path"
	"slices"
	"strconv"
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
	slices.SortFunc(names, compare)
	return names
}

// compare ids by their texts, and numbers in them by their values: fig5 comes before fig11.
func compare(a, b string) int {
	for a != "" && b != "" {
		first, second := leading(a), leading(b)
		m, errA := strconv.Atoi(first)
		n, errB := strconv.Atoi(second)
		order := cmp.Compare(first, second)
		if errA == nil && errB == nil {
			order = cmp.Compare(m, n)
		}
		if order != 0 {
			return order
		}
		a, b = a[len(first):], b[len(second):]
	}
	return cmp.Compare(len(a), len(b))
}

// leading part of a text: a number, or what is before the first one.
func leading(s string) string {
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	end := strings.IndexFunc(s, func(r rune) bool { return digit(r) != digit(rune(s[0])) })
	if end < 0 {
		return s
	}
	return s[:end]
}

// Sources of the published experiments.
func Sources() (all []string) {
	for _, id := range IDs() {
		if source := Source(id); !slices.Contains(all, source) {
			all = append(all, source)
		}
	}
	return all
}

// Read gives the text of an experiment; fs.ErrNotExist where there is none of
// that id.
func Read(id string) ([]byte, error) { return files.ReadFile(id + ".yaml") }
