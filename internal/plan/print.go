package plan

import (
	"fmt"
	"regexp"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Text is the plan for a person: the path, then every resource by namespace.
func (p *Plan) Text() string {
	var b strings.Builder
	names := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		names[i] = n.Name
		if n.Kind != "endpoint" {
			names[i] += " (" + n.Kind + ")"
		}
	}
	fmt.Fprintf(&b, "chain %s, wiring %s\npath: %s\n", p.Chain, p.Wiring, strings.Join(names, " → "))
	for _, block := range p.Blocks {
		fmt.Fprintf(&b, "addresses: %s\n", block)
	}
	fmt.Fprintf(&b, "needs of the machine: %s\n", strings.Join(p.Requires, ", "))
	for _, n := range p.Nodes {
		fmt.Fprintf(&b, "\n%s: namespace %s", n.Name, n.Namespace)
		if !n.Made {
			b.WriteString(" (exists)")
		}
		b.WriteString("\n")
		for _, r := range p.Resources {
			if r.Namespace == n.Namespace || r.Kind == namespace.KindName && r.Spec.Key() == n.Namespace || r.Kind == process.KindName && r.Spec.Key() == n.Name {
				fmt.Fprintf(&b, "  %-10s %s  [%s]\n", r.Kind, r.Spec.Key(), brief(r.Spec.Fingerprint()))
			}
		}
	}
	return b.String()
}

func brief(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 100 {
		return text[:97] + "..."
	}
	return text
}

// Script is the plan as a POSIX shell script of the commands that make the same
// objects. It stops at the first that fails.
func (p *Plan) Script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# Makes the chain %s as `nfchain up` would. Needs root, iproute2, and nft or iptables\n", p.Chain)
	fmt.Fprintf(&b, "# where functions use them. Removes nothing: that is `nfchain down %s`, which finds\n# what this made by its names.\nset -eu\n", p.Chain)
	for _, r := range p.Resources {
		if r.Kind == adopted.KindName {
			fmt.Fprintf(&b, "\n# %s: moved without writing down what it was; only what `nfchain up` took is put back by `down`\n", r.ID)
		} else if r.Kind == process.KindName {
			fmt.Fprintf(&b, "\n# %s: started once; keeping it running takes `nfchain up`\n", r.ID)
		} else {
			fmt.Fprintf(&b, "\n# %s\n", r.ID)
		}
		for _, c := range r.Spec.Commands(r.Namespace) {
			b.WriteString(shell(c))
		}
	}
	return b.String()
}

func shell(c resource.Command) string {
	words := make([]string, len(c.Args))
	for i, a := range c.Args {
		words[i] = quote(a)
	}
	line := strings.Join(words, " ")
	if c.Stdin == "" {
		return line + "\n"
	}
	return line + " <<'END-OF-RULES'\n" + c.Stdin + "END-OF-RULES\n"
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quote makes one shell word of any text.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
