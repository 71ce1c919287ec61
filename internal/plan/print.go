package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
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
	if p.Alone() {
		fmt.Fprintf(&b, "function %s\n", strings.Join(names, ""))
	} else {
		fmt.Fprintf(&b, "chain %s, wiring %s\npath: %s\n", p.Chain, p.Wiring, strings.Join(names, " → "))
	}
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

// ApplyCommand is the hidden command by which a script has nfchain make one
// resource: ApplyCommand CHAIN KIND, with the resource's spec on standard input.
const ApplyCommand = "apply"

// Script is the plan as a POSIX shell script of the commands that make the same
// objects, after those given, which go with them. It stops at the first that fails.
// What no command makes it has nfchain make; without nfchain it makes nothing.
func (p *Plan) Script(first ...resource.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# Makes the chain %s as `nfchain up` would. Needs root, iproute2, and nft or iptables\n", p.Chain)
	fmt.Fprintf(&b, "# where functions use them. Removes nothing: that is `nfchain down %s`, which finds\n# what this made by its names.\nset -eu\n", p.Chain)
	b.WriteString(p.needsNfchain())
	if len(first) > 0 {
		b.WriteString("\n# what `nfchain show`, `exec` and `logs` know the chain by\n")
	}
	for _, c := range first {
		b.WriteString(shell(c))
	}
	for _, r := range p.Resources {
		commands, note := r.Spec.Commands(r.Namespace), ""
		if len(commands) == 0 {
			commands, note = []resource.Command{p.apply(r)}, ": no ip, tc or nft command makes this; nfchain does"
		}
		fmt.Fprintf(&b, "\n# %s%s\n", r.ID, note)
		for _, c := range commands {
			b.WriteString(shell(c))
		}
	}
	return b.String()
}

// needsNfchain is how a script begins that has nfchain make something.
func (p *Plan) needsNfchain() string {
	var what []string
	for _, r := range p.Resources {
		if len(r.Spec.Commands(r.Namespace)) == 0 {
			what = append(what, r.ID)
		}
	}
	if len(what) == 0 {
		return ""
	}
	message := "needs nfchain on PATH, which makes " + strings.Join(what, ", ") + "; nothing was made"
	return "\ncommand -v nfchain >/dev/null || { echo " + quote(message) + " >&2; exit 3; }\n"
}

// apply is the command that has nfchain make a resource.
func (p *Plan) apply(r resource.Resource) resource.Command {
	text, err := json.Marshal(r.Spec)
	if err != nil {
		panic(err) // a Spec is plain data
	}
	args := []string{"nfchain", ApplyCommand, p.Chain, r.Kind}
	if r.Namespace != "" {
		args = append(args, r.Namespace)
	}
	return resource.Command{Args: args, Stdin: string(text) + "\n"}
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
	return line + " <<'END-OF-INPUT'\n" + c.Stdin + "END-OF-INPUT\n"
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quote makes one shell word of any text.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
