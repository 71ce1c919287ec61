package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/words"
)

// Text is the plan for a person: the path, then every resource by namespace.
func (p *Plan) Text() string {
	var b strings.Builder
	names := p.path()
	if p.Alone() {
		fmt.Fprintf(&b, "function %s\n", strings.Join(names, ""))
	} else {
		fmt.Fprintf(&b, "chain %s, wiring %s%s\npath: %s\n", p.Chain, p.Wiring, Chosen(p.Settings), strings.Join(names, " → "))
		if back := p.Back(); back != nil {
			fmt.Fprintf(&b, "back: %s\n", strings.Join(back, " → "))
		}
		for _, way := range p.ways() {
			fmt.Fprintf(&b, "branch: %s\n", way)
		}
		for _, way := range p.serviceWays() {
			fmt.Fprintf(&b, "service path %s\n", way)
		}
	}
	if p.Classifier != nil {
		p.Classifier.list(&b)
	}
	if chose := p.Chose(); chose != "" {
		fmt.Fprintf(&b, "runtime %s: %s\n", api.RuntimeAuto, chose)
	}
	for _, block := range p.Blocks {
		fmt.Fprintf(&b, "addresses: %s\n", block)
	}
	if p.Service != nil {
		b.WriteString(p.Service.text(p.Client().Name, p.Server().Name))
	}
	b.WriteString(p.Placement.text(p.Nodes))
	for _, comes := range p.Replaces {
		fmt.Fprintf(&b, "replaces: %s\n", comes)
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	fmt.Fprintf(&b, "needs of the machine: %s\n", cmp.Or(strings.Join(p.Requires, ", "), "nothing"))
	if p.Bare() {
		return b.String() + p.bareText()
	}
	for _, n := range p.Nodes {
		exists := " (exists)"
		if n.Made {
			exists = ""
		}
		place := "namespace " + n.Namespace + exists
		if n.Namespace == hostsOwn {
			place = "the host's own namespace"
		}
		fmt.Fprintf(&b, "\n%s: %s\n", n.Name, place)
		if p.foreign {
			b.WriteString(n.attachedText())
		}
		if p.within {
			b.WriteString(n.loopbackText())
		}
		for _, m := range n.Functions {
			fmt.Fprintf(&b, "  %-10s %s  [%s]\n", "function", m.Name, m.Kind)
		}
		p.list(&b, n.Has, n.Namespace)
	}
	for _, f := range p.Inline {
		f.list(&b)
	}
	for _, n := range p.Beside() {
		_, node, _ := namespace.Split(n)
		fmt.Fprintf(&b, "\n%s: namespace %s\n", node, n)
		p.list(&b, (Node{Name: node}).Has, n)
	}
	if own := p.Between(); own != "" {
		fmt.Fprintf(&b, "\nwiring %s: namespace %s\n", p.Wiring, own)
		p.list(&b, (Node{Name: WiringNode}).Has, own)
	}
	for _, r := range p.Resources {
		if r.Kind == container.NetworkKindName {
			n := r.Spec.(container.Network)
			fmt.Fprintf(&b, "\nwiring %s: network %s of %s\n  driver     %s  %q %v\n", p.Wiring, n.Name, n.Engine, n.Driver, n.Subnets, n.Options)
		}
	}
	p.listMachine(&b)
	return b.String()
}

// path is what packets come by, in order, for a person: replicas as the one function that they
// are, and where ways part, the planned one.
func (p *Plan) path() (names []string) {
	g := p.Graph()
	parts, planned := !p.Alone() && !g.Line(), g.Path()
	place := -1
	for i, n := range p.Nodes {
		name := n.Function()
		if !n.Again() {
			place++
		}
		if parts && !slices.Contains(planned, place) {
			continue
		}
		switch {
		case n.Replica != nil:
			name += fmt.Sprintf(" (%s, %s)", n.KindText(), words.Plural(n.Replica.All, "replica"))
		case n.Kind != "endpoint":
			name += " (" + n.KindText() + ")"
		}
		if !n.Again() && n.Kind != StopKind {
			names = append(names, name)
		}
		for _, f := range p.InlineAfter(i) {
			names = append(names, f.Name+" ("+f.Kind+", inline)")
		}
	}
	return names
}

// list where packets take the function's step.
func (f Inline) list(w io.Writer) {
	where := "between " + f.West + " and " + f.East
	if f.Stop {
		where = "at the stop " + f.West
	}
	_, _ = fmt.Fprintf(w, "\n%s: inline %s\n", f.Name, where)
	for _, way := range []struct {
		name string
		at   *Taken
	}{{"forward", f.Forward}, {"reverse", f.Reverse}} {
		if way.at != nil {
			_, _ = fmt.Fprintf(w, "  %-10s %s  [slot %d]\n", way.name, strings.Join(way.at.All(), ", "), way.at.Slot)
		}
	}
}

// Beside are the namespaces that functions make besides their own.
func (p *Plan) Beside() []string {
	var others []string
	for _, name := range p.Namespaces() {
		if node := slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.Namespace == name }); !node && name != namespace.Name(p.Chain, WiringNode) {
			others = append(others, name)
		}
	}
	return others
}

// Chosen is what a wiring chose, for a person: " (datapath netdev, ports veth)".
func Chosen(settings map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		words = append(words, name+" "+settings[name])
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// Between is the namespace of what a wiring has between nodes, empty where it has none.
func (p *Plan) Between() string {
	if own := namespace.Name(p.Chain, WiringNode); p.makes(own) {
		return own
	}
	return ""
}

// makes tells whether a namespace is made for the chain.
func (p *Plan) makes(name string) bool {
	return slices.ContainsFunc(p.Resources, named(resource.ID(namespace.KindName, "", name)))
}

// list every resource of a node, whose programs have names that are its own.
func (p *Plan) list(w io.Writer, own func(name string) bool, place string) {
	for _, r := range p.Resources {
		c, contained := r.Spec.(container.Spec)
		if r.Namespace == place && place != hostsOwn || contained && place == hostsOwn && own(c.Node) || (r.Kind == namespace.KindName || r.Kind == container.KindName) && r.Spec.Key() == place || (r.Kind == process.KindName || r.Kind == container.NamesKindName) && own(r.Spec.Key()) {
			_, _ = fmt.Fprintf(w, "  %-10s %s  [%s]\n", r.Kind, r.Spec.Key(), brief(r.Spec.Fingerprint()))
			if c, is := r.Spec.(container.Spec); is && c.From != "" {
				_, _ = fmt.Fprintf(w, "  %-10s %s  [made of %s]\n", "image", c.Image, c.From)
			}
		}
	}
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
func (p *Plan) Script(first ...resource.Command) string { return Script(Part{p, first}) }

// Part is a plan in a script, and the commands that go with it and come first.
type Part struct {
	Plan  *Plan
	First []resource.Command
}

// Script is one of several plans, which are made in this order.
func Script(parts ...Part) string {
	var b strings.Builder
	what, names := "the chain", make([]string, len(parts))
	for i, part := range parts {
		names[i] = part.Plan.Chain
	}
	if len(parts) > 1 {
		what = "functions and chains"
	}
	fmt.Fprintf(&b, "#!/bin/sh\n# Makes %s %s as `nfchain up` would. Needs root, iproute2, and nft or iptables\n", what, strings.Join(names, ", "))
	fmt.Fprintf(&b, "# where functions use them. Removes nothing: that is `nfchain down %s`, which finds\n# what this made by its names.\nset -eu\n", strings.Join(names, " "))
	b.WriteString(needsNfchain(parts))
	for _, part := range parts {
		part.write(&b)
	}
	return b.String()
}

func (part Part) write(b *strings.Builder) {
	if len(part.First) > 0 {
		b.WriteString("\n# what `nfchain show`, `exec` and `logs` know " + part.Plan.whatItIs() + " by\n")
	}
	for _, c := range part.First {
		b.WriteString(shell(c))
	}
	for _, r := range part.Plan.Resources {
		commands, note := r.Spec.Commands(r.Namespace), ""
		if len(commands) == 0 {
			commands, note = []resource.Command{part.Plan.apply(r)}, ": no ip, tc or nft command makes this; nfchain does"
		}
		fmt.Fprintf(b, "\n# %s%s\n", r.ID, note)
		for _, c := range commands {
			b.WriteString(shell(c))
		}
	}
}

// whatItIs in a sentence.
func (p *Plan) whatItIs() string {
	if p.Alone() {
		return "the function"
	}
	return "the chain"
}

// needsNfchain is how a script begins that has nfchain make something.
func needsNfchain(parts []Part) string {
	var what []string
	for _, part := range parts {
		for _, r := range part.Plan.Resources {
			if len(r.Spec.Commands(r.Namespace)) == 0 {
				what = append(what, r.ID)
			}
		}
	}
	if len(what) == 0 {
		return ""
	}
	message := "needs nfchain on PATH, which makes " + strings.Join(what, ", ") + "; nothing was made"
	return "\ncommand -v nfchain >/dev/null || { echo " + words.Shell(message) + " >&2; exit 3; }\n"
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
	line := words.Shell(c.Args...)
	if c.Stdin == "" {
		return line + "\n"
	}
	return line + " <<'END-OF-INPUT'\n" + c.Stdin + "END-OF-INPUT\n"
}
