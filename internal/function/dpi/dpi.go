// Package dpi is deep packet inspection on the path: nDPI, by the program of images/dpi, says which application each flow is of,
// and packets of some are dropped or get a mark.
package dpi

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Options of a dpi.
type Options struct {
	// Block are applications whose packets are dropped once a flow is known for one, by nDPI's names, such as
	// BitTorrent: `nfchain-dpi applications` lists them.
	Block []string `json:"block,omitempty"`
	// Mark is the mark that packets of flows of others get, by application, in decimal or, with 0x before it, in hexadecimal
	// digits. Branches go by it, and rules of the namespace. What comes before the flow is known has none.
	Mark map[string]api.Mark `json:"mark,omitempty"`
	// Flows is how many flows it tells of, those with the most bytes. Default 20.
	Flows int `json:"flows" jsonschema:"minimum=0,maximum=200"`
}

//go:embed dpi.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// What the program takes at most.
const (
	mostRules = 64
	mostFlows = 200
)

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	name := func(path, name string) {
		if name == "" || strings.ContainsAny(name, " ,=\n\x00") {
			add(path, "%q is not the name of an application, such as BitTorrent; `nfchain-dpi applications` lists those that nDPI knows", name)
		}
	}
	for i, app := range o.Block {
		path := fmt.Sprintf("block[%d]", i)
		name(path, app)
		if slices.ContainsFunc(o.Block[:i], func(other string) bool { return strings.EqualFold(app, other) }) {
			add(path, "%s is there twice", app)
		}
	}
	apps := slices.Sorted(maps.Keys(o.Mark))
	for i, app := range apps {
		path := "mark." + app
		name(path, app)
		same := func(other string) bool { return strings.EqualFold(app, other) }
		switch {
		case o.Mark[app] == 0:
			add(path, "is 0, which packets have anyway; write a number from 1 to 4294967295")
		case slices.ContainsFunc(o.Block, same):
			add(path, "%s is in block too, and what is dropped needs no mark; leave one of them out", app)
		case slices.ContainsFunc(apps[:i], same):
			add(path, "%s is there twice", app)
		}
	}
	if n := len(o.Block) + len(o.Mark); n > mostRules {
		add("block", "there are %d applications in block and mark, and the program takes %d", n, mostRules)
	}
	if o.Flows < 0 || o.Flows > mostFlows {
		add("flows", "is how many flows are told of, 0 to %d", mostFlows)
	}
	return wrong
}

// program is what it runs, there or in the image.
const program = "nfchain-dpi"

// NamesProgram implements api.Programmed.
func (*Options) NamesProgram() bool { return true }

// Program implements api.Programmed.
func (*Options) Program() (field, message string) { return "", "" }

// Writes implements api.Writing.
func (*Options) Writes() (dir, what string) { return own, "tells what it found" }

// Kind is the dpi function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "dpi" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{Flows: 20} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "labels flows by application with nDPI, and drops or marks those of some", Example: `{block: [BitTorrent], mark: {HTTP: 7, TLS: 8}}`}
}

// Requires implements function.Kind: where its program is an image's, nothing.
func (Kind) Requires(any) []string { return nil }

// Runs implements function.Runner.
func (Kind) Runs(any) bool { return true }

// Capabilities implements function.Capable.
func (Kind) Capabilities() []string { return []string{"NET_ADMIN"} }

// UsesHugepages implements function.Hugepager: what nDPI knows of flows and applications is in what malloc(3) gives, which takes
// them where it is told to.
func (Kind) UsesHugepages() {}

// fromHugepages has glibc take memory from hugepages, of the size that is given or else of the kernel's usual one, as long as there are some.
func fromHugepages(r *api.Resources) string {
	size := uint64(2) // which stands for the usual one
	if r.HugepageSize > 0 {
		size = uint64(r.HugepageSize)
	}
	return fmt.Sprintf("GLIBC_TUNABLES=glibc.malloc.hugetlb=%d", size)
}

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(function.Site, any) error { return nil }

// own is a directory that every machine and image has, and in which its file is.
const own = "/srv"

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	o := options.(*Options)
	var marks []string
	for _, app := range slices.Sorted(maps.Keys(o.Mark)) {
		marks = append(marks, app+"="+o.Mark[app].String())
	}
	file := own + "/told"
	spec := process.Spec{
		Node: site.Node, Netns: site.Namespace, Args: []string{program}, Restart: "always",
		Env:     []string{"BLOCK=" + strings.Join(o.Block, " "), "FLOWS=" + strconv.Itoa(o.Flows), "MARK=" + strings.Join(marks, " "), "TELLS=" + file},
		Ready:   process.Ready{Command: []string{"test", "-e", file}, TimeoutS: 10},
		Scratch: []string{own}, Tells: file,
	}
	if site.Resources != nil {
		spec.CPUs, spec.MemoryBytes = site.Resources.CPUs, uint64(site.Resources.Memory)
		if site.Resources.Hugepages > 0 {
			spec.Env = append(spec.Env, fromHugepages(site.Resources))
		}
	}
	names := site.Names()
	return []resource.Resource{names, resource.New("", spec, append(slices.Clone(site.Needs), names.ID)...)}, nil
}
