// Package images holds what is told of the functions that are built here: a chain with each.
package images

import (
	"embed"
	"strings"
)

//go:embed *.yaml
var chains embed.FS

// Image of a function that is built here.
type Image struct {
	// Name of its directory.
	Name string
	// Is what it is, in a line.
	Is string
	// Chain is a file with a chain that has it.
	Chain string
}

// All images, by their names in order.
func All() []Image {
	entries, _ := chains.ReadDir(".") // it is there, since it was embedded
	var all []Image
	for _, e := range entries {
		text, _ := chains.ReadFile(e.Name())
		is, chain, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		all = append(all, Image{strings.TrimSuffix(e.Name(), ".yaml"), is, chain})
	}
	return all
}
