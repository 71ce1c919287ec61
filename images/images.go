// Package images holds what is told of the functions that are built here: a chain with each.
package images

import (
	"embed"
	"strings"
)

//go:embed *.yaml */Dockerfile
var files embed.FS

// Option of an image is a variable of its environment, which a chain's file says in env of the function's command.
type Option struct {
	Name string `json:"name"`
	// Default is what holds where nothing is said.
	Default string `json:"default"`
	// Description says what is written there, and in which unit.
	Description string `json:"description"`
}

// Image of a function that is built here.
type Image struct {
	// Name of its directory.
	Name string
	// Is what it is, in a line.
	Is string
	// Options of it, in the order of its Dockerfile.
	Options []Option
	// Chain is a file with a chain that has it.
	Chain string
}

// All images, by their names in order.
func All() []Image {
	entries, _ := files.ReadDir(".") // it is there, since it was embedded
	var all []Image
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".yaml")
		if !is {
			continue
		}
		text, _ := files.ReadFile(e.Name())
		built, _ := files.ReadFile(name + "/Dockerfile")
		line, chain, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		all = append(all, Image{name, line, options(string(built)), chain})
	}
	return all
}

// options of a Dockerfile are what its ENV sets, one line of which sets several, and the comments before that say of each by its name what it is.
func options(dockerfile string) (all []Option) {
	said := map[string]string{}
	for line := range strings.Lines(dockerfile) {
		line = strings.TrimSpace(line)
		if comment, is := strings.CutPrefix(line, "# "); is {
			name, what, _ := strings.Cut(comment, ": ")
			said[name] = what
			continue
		}
		sets, is := strings.CutPrefix(line, "ENV ")
		if !is {
			continue
		}
		for set := range strings.FieldsSeq(sets) {
			name, value, _ := strings.Cut(set, "=")
			all = append(all, Option{name, strings.Trim(value, `"`), said[name]})
		}
	}
	return all
}
