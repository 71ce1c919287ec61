package published

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed claims.yaml
var catalogue []byte

// Claim is a statement of a source document that a measurement can confirm or refute.
type Claim struct {
	// ID is author+year and a name: livi2016/fig7-first.
	ID string `yaml:"id" json:"id"`
	// Is the kind of statement: order, ratio, flat, rises, shape, value or function.
	Is string `yaml:"is" json:"is"`
	// At is the section, figure or table of the source.
	At string `yaml:"at" json:"at"`
	// Needs is what it takes: [OneHost], or one of the names of [NeedsText].
	Needs string `yaml:"needs" json:"needs"`
	// Text is the statement.
	Text string `yaml:"text" json:"text"`
	// Numbers are the source's, units in the names, shares as fractions.
	Numbers map[string]any `yaml:"numbers" json:"numbers,omitempty"`
	// Note tells where the source disagrees with itself, or wants care.
	Note string `yaml:"note" json:"note,omitempty"`
}

// OneHost is what claims need that any machine with two cores can tell.
const OneHost = "one"

// needs in words.
var needs = map[string]string{
	OneHost: "one host", "numa": "one host with two NUMA nodes", "two": "two hosts", "vm": "virtual machines",
	"windows": "Windows", "dpdk": "DPDK", "k8s": "Kubernetes",
}

// NeedsText is what a claim takes, in words.
func (c Claim) NeedsText() string { return needs[c.Needs] }

// Source is the id of the document that a claim, or an experiment, is of: livi2016 of
// livi2016/fig7-first.
func Source(id string) string {
	source, _, _ := strings.Cut(id, "/")
	return source
}

// Whole is the id that the catalogue has for a claim of an experiment, which may be a
// part of one: livi2016/fig9-flows of livi2016/fig9-flows:udp.
func Whole(id string) string {
	whole, _, _ := strings.Cut(id, ":")
	return whole
}

// Claims of all sources, those of one source together, in its order.
var Claims = sync.OnceValue(func() []Claim {
	var all []Claim
	if err := yaml.UnmarshalWithOptions(catalogue, &all, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("published/claims.yaml: %v", err)) // it is part of the program
	}
	return all
})
