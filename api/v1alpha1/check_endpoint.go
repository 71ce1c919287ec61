package v1alpha1

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// What the kernel takes: IFNAMSIZ less the final zero, and NAME_MAX for the
// file that iproute2 keeps for a named namespace.
const (
	maxInterface = 15
	maxNamespace = 255
)

// ownPrefix begins the name of every namespace that nfchain makes.
const ownPrefix = "nfchain."

func checkEndpoints(ends []Endpoint, at place) []FieldProblem {
	var f findings
	if len(ends) != 2 {
		f.addf("", "a chain has exactly two endpoints, not %d", len(ends))
	}
	for i, e := range ends {
		f.under(item("", i), checkEndpoint(e))
		f.under(item("", i), at.under(item("", i)).checkOptions())
	}
	if len(ends) == 2 {
		f.under("[1]", checkShared(ends[0], ends[1]))
	}
	return f
}

func checkEndpoint(e Endpoint) []FieldProblem {
	var f findings
	if e.Namespace != "" && e.Interface != "" {
		f.addf("", "has both namespace and interface; at most one of them can be")
	}
	if e.Namespace != "" {
		f.add("namespace", checkNamespace(e.Namespace))
	}
	if e.Interface != "" {
		f.add("interface", checkInterface(e.Interface))
	}
	for kind, options := range e.Options {
		if e.Namespace != "" {
			f.addf(kind, "is a program in a namespace that is made for the chain, and %s is there before; start it there yourself, or leave namespace out", quote(e.Namespace))
		}
		f.under("", e.checkProgram(kind, options))
	}
	f.under("", e.checkContainer())
	for i, text := range e.Addresses {
		at := item("addresses", i)
		switch a, is := hostAddress(text); {
		case !is:
			f.addf(at, "%s is not the address of a host; write one like 192.0.2.1 or 2001:db8::1", quote(text))
		case hasAddress(e.Addresses[:i], a):
			f.addf(at, "%s is already among the addresses", text)
		}
	}
	return f
}

// checkProgram of an endpoint, which its container's image may have.
func (e Endpoint) checkProgram(kind string, options any) []FieldProblem {
	if !IsEngine(e.Runtime) {
		return FunctionBody{Kind: kind, Options: options}.checkProgram()
	}
	var f findings
	if e.Container == nil || e.Container.Image == "" {
		f.addf("container", "has no image, in which the program would be found; write container: {image: NAME}")
	}
	if o, is := options.(Housed); is {
		f.under(kind, o.InNamespace())
	}
	return f
}

// checkContainer wants what is said of an endpoint's container to be said where it is one, made for the chain.
func (e Endpoint) checkContainer() []FieldProblem {
	var f findings
	switch {
	case !IsEngine(e.Runtime):
		if e.Container != nil {
			f.addf("container", "is for an endpoint with runtime: %s; this one has %s", strings.Join(engines, ", "), quote(cmp.Or(e.Runtime, RuntimeNetns)))
		}
		return f
	case e.Namespace != "":
		f.addf("runtime", "an endpoint with runtime: %s has the namespace of its container; leave namespace out", e.Runtime)
	case e.Interface != "":
		f.addf("runtime", "an endpoint with runtime: %s is a container, and interface takes one of the host's into a namespace; leave one of them out", e.Runtime)
	}
	if e.Container != nil {
		f.under("container", e.Container.check())
	}
	return f
}

// hostAddress reads an address that a host can have.
func hostAddress(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(text)
	return a, err == nil && a.Zone() == "" && !a.Is4In6() && a.IsGlobalUnicast()
}

// hasAddress tells whether an address is among others, however those are written.
func hasAddress(texts []string, a netip.Addr) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		other, is := hostAddress(text)
		return is && other == a
	})
}

// checkShared refuses two ends in one place, or with one address: traffic between them would
// never enter the chain.
func checkShared(a, b Endpoint) []FieldProblem {
	var f findings
	if a.Namespace != "" && a.Namespace == b.Namespace {
		f.addf("namespace", "both endpoints are in namespace %s", quote(a.Namespace))
	}
	if a.Interface != "" && a.Interface == b.Interface {
		f.addf("interface", "both endpoints are interface %s", quote(a.Interface))
	}
	for i, text := range b.Addresses {
		if addr, is := hostAddress(text); is && hasAddress(a.Addresses, addr) && !hasAddress(b.Addresses[:i], addr) {
			f.addf(item("addresses", i), "%s is an address of the other endpoint too", text)
		}
	}
	return f
}

func checkNamespace(name string) string {
	switch {
	case strings.Contains(name, "/"):
		return fmt.Sprintf("%s is a path; write the name that `ip netns list` shows", quote(name))
	case name == "." || name == ".." || len(name) > maxNamespace || hasSpace(name):
		return quote(name) + " is not the name of a namespace; write one that `ip netns list` shows"
	case strings.HasPrefix(name, ownPrefix):
		return fmt.Sprintf("%s is a namespace of a chain; those that begin with %s are nfchain's own", quote(name), ownPrefix)
	}
	return ""
}

func checkInterface(name string) string {
	if name == "lo" {
		return "the loopback interface cannot be an endpoint, since it cannot leave its namespace"
	}
	return InterfaceProblem(name)
}

// InterfaceProblem says why no interface can have a name; "" if one can.
func InterfaceProblem(name string) string {
	switch {
	case len(name) > maxInterface:
		return fmt.Sprintf("%s is longer than an interface's name can be (%d bytes)", quote(name), maxInterface)
	case strings.ContainsAny(name, "/:") || name == "." || name == ".." || hasSpace(name):
		return quote(name) + " is not the name of an interface; write one that `ip link` shows"
	}
	return ""
}

func hasSpace(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
