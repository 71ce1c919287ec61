package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/wiring"
)

// What a namespace, a container or a program is for has its name. So one that comes to be in a function's place, while what was there keeps
// its flows, has another name than the file's: NAME.2 and so on. To a plan it is another function; only its addresses are those that the one before had,
// which its neighbours know.

// InstanceOf a function is what its node is called where others were there under its name before. No function of a file is called so.
func InstanceOf(name string, number int) string {
	if number < 2 {
		return name
	}
	return name + "." + strconv.Itoa(number)
}

// instances are the names that functions of a chain have as they are planned, where these are not the file's.
func (o Options) instances(chain api.Chain) map[string]string {
	all := map[string]string{}
	for _, f := range chain.Spec.Functions {
		if n := o.Instances[f.Name]; n > 1 {
			all[f.Name] = InstanceOf(f.Name, n)
		}
	}
	return all
}

// instance has a chain, and what was chosen for its functions, with the names of these.
func instance(chain api.Chain, o Options) (api.Chain, Options, map[string]string) {
	names, called := o.instances(chain), map[string]string{}
	chosen := map[string]string{}
	for function, runtime := range o.Runtimes {
		if is, other := names[function]; other {
			function = is
		}
		chosen[function] = runtime
	}
	for file, is := range names {
		called[is] = file
	}
	chain.Spec, o.Runtimes = chain.Spec.Renamed(names), chosen
	return chain, o, called
}

// inFile has what was chosen by the names that the file has.
func inFile(chosen map[string]string, called map[string]string) map[string]string {
	if len(called) == 0 {
		return chosen
	}
	all := map[string]string{}
	for function, runtime := range chosen {
		if file, other := called[function]; other {
			function = file
		}
		all[function] = runtime
	}
	return all
}

// InFile is what the chain's file calls the function that a node is.
func (n Node) InFile() string {
	if n.Called != "" {
		return n.Called
	}
	return n.Function()
}

// Means tells whether a word that somebody wrote is for a node, of replicas for each: its own name, that of one of the functions there,
// or what the file calls it.
func (n Node) Means(word string) bool {
	return n.Has(word) || slices.Contains([]string{n.Function(), n.InFile(), n.Usual()}, word)
}

// Usual is what a node would be called by the chain's file alone.
func (n Node) Usual() string {
	switch {
	case n.Called == "":
		return n.Name
	case n.Replica != nil:
		return fmt.Sprintf("%s-%d", n.Called, n.Replica.Number)
	}
	return n.Called
}

// inFile is a text with what the file calls functions.
func (b *builder) inFile(text string) string {
	for is, file := range b.asFile {
		named := regexp.MustCompile(`(^|[^A-Za-z0-9_.:/-])` + regexp.QuoteMeta(is) + `(\.\s|\.$|[^A-Za-z0-9_.]|$)`) // and no part of an address, or of an image's name
		for was := ""; was != text; {
			was, text = text, named.ReplaceAllString(text, "${1}"+file+"${2}")
		}
	}
	return text
}

// unnumbered is an error in the words of the file.
type unnumbered struct {
	error
	text string
}

func (u unnumbered) Error() string { return u.text }
func (u unnumbered) Unwrap() error { return u.error }

// inWords of the file is an error, and each that is joined in it.
func (b *builder) inWords(err error) error {
	if err == nil || len(b.asFile) == 0 {
		return err
	}
	all := Refusals(err)
	for i, one := range all {
		all[i] = unnumbered{one, b.inFile(one.Error())}
	}
	return errors.Join(all...)
}

// addressesBefore are those of what was there before under the name that the file has for a node.
func (b *builder) addressesBefore(n Node) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(b.facts.Addresses)) {
		_, node, _ := namespace.Split(name)
		if n.Replica != nil {
			of, is := strings.CutSuffix(node, "-1")
			if !is {
				continue
			}
			node = of
		}
		if file, number, is := strings.Cut(node, "."); file == n.InFile() && (!is || isNumber(number)) {
			all = append(all, name)
		}
	}
	return all
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// replaceable tells why what comes to be in a function's place cannot be put beside what is there; nil where it can.
func (b *builder) replaceable(f api.Function) error {
	_, translates := b.catalogue.Functions[f.Kind].(function.Translator)
	p := b.chain.Spec.Placement
	switch {
	case !b.steered():
		return fmt.Errorf("replace: wiring %s leads packets to one namespace of a function; use wiring: %s, or leave it out", b.wiring.Name(), able[wiring.Steered](b.catalogue.Wirings))
	case f.Ref != "":
		return errors.New("replace: a standalone function is what its own file says; leave it out")
	case f.Group != "":
		return errors.New("replace: functions of a group are changed in the namespace that they share; leave one of the two out")
	case cmp.Or(f.Runtime, b.chain.Spec.Runtime) == api.RuntimeCNI:
		return errors.New("replace: another runtime brings its container, under the function's own name; leave it out")
	case translates:
		return fmt.Errorf("replace: a %s is reached at addresses of its own, which two cannot have; leave it out", f.Kind)
	case p.Functions.Exclusive || p.Softirqs.Exclusive:
		return errors.New("replace: placement gives each function a CPU to itself (exclusive), and there is none for another beside it; share the CPUs, or leave it out")
	case f.Resources != nil && f.Resources.Hugepages > 0:
		return errors.New("replace: there are pages for one that uses hugepages, and none for another beside it; leave it out")
	}
	return nil
}

// replaced refuses functions that are to be replaced by others beside them where nothing is put there.
func (b *builder) replaced() error {
	var refused []error
	for _, f := range b.chain.Spec.Functions {
		if f.Replace != api.ReplaceBeside {
			continue
		}
		refused = append(refused, about(b.replaceable(f), "function "+f.Name))
	}
	return errors.Join(refused...)
}

// Replacing is a function that is put in beside what is there under its name.
type Replacing struct {
	// Function as the file calls it, and Node as the one that comes is called, with replicas what these begin with.
	Function string `json:"function"`
	Node     string `json:"node"`
	// What is another.
	What string `json:"what"`
}

// String tells a person.
func (r Replacing) String() string {
	return fmt.Sprintf("%s takes the place of %s, which %s: new flows go to it, and others when they were idle", r.Node, r.Function, r.What)
}

// Replaced are the functions, as the file calls them, that come to be others under their names since a plan was made, with what is another: those
// that are put in beside what is there, and those that are changed where they are. Each plan has them by the same names.
func (p *Plan) Replaced(was *Plan) (beside, inPlace map[string]string) {
	beside, inPlace = map[string]string{}, map[string]string{}
	before := map[string]Node{}
	for _, n := range was.Functions() {
		before[n.Name] = n
	}
	for _, n := range p.Functions() {
		old, known := before[n.Name]
		if !known || n.Again() || n.Kind == StopKind || !n.Made || !old.Made || n.InFile() != old.InFile() {
			continue
		}
		what, aside := n.becomes(p, old, was), false
		if a, b := p.program(n), was.program(old); what == "" && a != "" && b != "" && a != b {
			what, aside = "has another program", !n.passesOn && n.NSH == nil
		}
		switch {
		case what == "":
		case !n.InPlace() && !n.alone() && !old.alone() && (!aside || n.replace == api.ReplaceBeside):
			beside[n.InFile()] = what
		case !aside:
			inPlace[n.InFile()] = what
		}
	}
	return beside, inPlace
}

// InPlace tells that what comes to be in a node's place is not put in beside it.
func (n Node) InPlace() bool { return n.replace == api.ReplaceInPlace }

// alone tells that there cannot be another beside a node: groups share one.
func (n Node) alone() bool { return n.single || len(n.Functions) > 0 }

// becomes tells what a node becomes for which what it has its packets by is made anew; "" where that stays.
func (n Node) becomes(p *Plan, old Node, was *Plan) string {
	in := func(runtime string) string {
		if runtime == "" {
			return api.RuntimeNetns
		}
		return runtime
	}
	switch a, b := was.digest(old), p.digest(n); {
	case old.Kind != n.Kind:
		return fmt.Sprintf("was a %s and becomes a %s", old.Kind, n.Kind)
	case old.Runtime != n.Runtime:
		return fmt.Sprintf("was in runtime %s and comes to be in %s", in(old.Runtime), in(n.Runtime))
	case old.NSH == nil && n.NSH != nil:
		return fmt.Sprintf("comes to get headers (encapsulation: %s)", api.EncapsulationNSH)
	case old.NSH != nil && n.NSH == nil:
		return fmt.Sprintf("gets headers (encapsulation: %s) no more", api.EncapsulationNSH)
	case a != b:
		return "has another container"
	}
	return ""
}

// digest of a node's container; "" where it has none.
func (p *Plan) digest(n Node) string {
	for _, r := range p.Resources {
		if c, is := r.Spec.(container.Spec); is && c.Node == n.Name {
			return c.Digest()
		}
	}
	return ""
}

// program of a node in a namespace that is no container's, in words that tell it from others; "" where it has none.
func (p *Plan) program(n Node) string {
	for _, r := range p.Resources {
		if s, is := r.Spec.(process.Spec); is && s.Node == n.Name && s.Container == nil {
			return s.Fingerprint()
		}
	}
	return ""
}

// instances are the numbers of those that have one.
func (b *builder) instances() map[string]int {
	var all map[string]int
	for _, file := range b.asFile {
		if all == nil {
			all = map[string]int{}
		}
		all[file] = b.options.Instances[file]
	}
	return all
}
