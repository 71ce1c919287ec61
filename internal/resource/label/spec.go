// Package label has packets that leave a function bear a label: the number of the node that they
// are to go to, by the marks that they have. The kernel takes marks away from what leaves a
// namespace; labels it leaves, for the port on the other side to read. The interface holds the
// program, and all that is to be known is read from there.
package label

import (
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	bpf "nfchain.dev/nfchain/bpf/label"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// KindName of labels in a plan.
const KindName = "label"

// Spec of the program at an interface, for what leaves by it.
type Spec struct {
	Device string `json:"device"`
	// Rules of which the first that fits a packet labels it.
	Rules []Rule `json:"rules"`
}

// Rule labels packets that have a mark, in the bits of a mask.
type Rule struct {
	Mark api.Mark `json:"mark"`
	Mask api.Mark `json:"mask"`
	// Node is where they are to go to, and Label its number, from 1 to Most.
	Node  string `json:"node"`
	Label uint32 `json:"label"`
}

// Most is the highest number that a packet can bear.
const Most = 1<<16 - 1

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is the rules, and which program has them.
func (s Spec) Fingerprint() string {
	rules := make([]rule, len(s.Rules))
	for i, r := range s.Rules {
		rules[i] = r.loaded()
	}
	return fingerprint(name, rules)
}

// rule as the program has it.
type rule struct{ Mark, Mask, Label uint32 }

func (r Rule) loaded() rule { return rule{uint32(r.Mark), uint32(r.Mask), r.Label} }

func fingerprint(program string, rules []rule) string {
	words := make([]string, len(rules))
	for i, r := range rules {
		words[i] = fmt.Sprintf("%#x/%#x is %d", r.Mark, r.Mask, r.Label)
	}
	return strings.Join(words, ", ") + ", by " + program
}

// Commands implements resource.Spec: only nfchain has the program.
func (Spec) Commands(string) []resource.Command { return nil }

// name of this version's program.
var name = held.Name(held.LabelMark, bpf.Object())
