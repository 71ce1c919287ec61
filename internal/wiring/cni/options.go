package cni

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/cni"
)

// Options of the wiring.
type Options struct {
	// Config is the file that says what the network is, by its path from where this file is: a list
	// of plugins in JSON (.conflist), as /etc/cni/net.d has them, or one plugin's configuration. Or that
	// text itself, in quotes.
	Config string `json:"config" jsonschema:"required"`
	// Plugins are the directories with the plugins' programs. Default: /opt/cni/bin and
	// /usr/lib/cni.
	Plugins []string `json:"plugins,omitempty"`
}

//go:embed options.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Options implements wiring.Wiring.
func (Wiring) Options() any { return &Options{Plugins: []string{"/opt/cni/bin", "/usr/lib/cni"}} }

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	if o.Config == "" {
		wrong = append(wrong, api.FieldProblem{Path: "config", Message: "is missing; write the path of a network's configuration, such as ./bridge.conflist"})
	}
	if len(o.Plugins) == 0 {
		wrong = append(wrong, api.FieldProblem{Path: "plugins", Message: "is empty; leave it out, or name the directories in which plugins are"})
	}
	for i, dir := range o.Plugins {
		if !filepath.IsAbs(dir) || strings.Contains(dir, ":") {
			wrong = append(wrong, api.FieldProblem{Path: fmt.Sprintf("plugins[%d]", i), Message: fmt.Sprintf("%q is not an absolute path without colons", dir)})
		}
	}
	return wrong
}

// File implements api.Filed.
func (o *Options) File() (string, *string) { return "config", &o.Config }

// CheckFile implements api.Filed.
func (*Options) CheckFile(text []byte) error {
	_, err := cni.Network(string(text))
	return err
}
