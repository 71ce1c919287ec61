package function

import (
	"fmt"
	"net/netip"

	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Translator is a kind that gives connections other addresses.
type Translator interface {
	Kind
	// Translates tells what becomes of the connections that the function acts on.
	Translates(site Site, options any) Translation
}

// Translation is what a function makes of connections, as the end sees it that opens
// them. Families that its addresses lack are left as they are.
type Translation struct {
	// Service is where connections go that are taken to the other end, and Served where
	// they arrive: at one address a family, or shared out over several.
	Service, Served []netip.Addr
	// Protocol and Ports alone are taken there; zero is all.
	Protocol string
	Ports    ruleset.Ports
	// ToPort is what such a port becomes; 0 leaves it.
	ToPort uint16
	// Source is what connections come from behind the function.
	Source []netip.Addr
}

// Addressed are options that name addresses which the chain leads to the function: connections that have one end when it is gone.
type Addressed interface {
	Named() []netip.Addr
}

// translated connections that are known without a namespace at once, all of a chain's together.
const translated = 65_536

// protocols whose connections alone may be translated, with their numbers of IP.
var protocols = map[string]uint8{"tcp": 6, "udp": 17}

// inline are the rules by which a pass translates connections so.
func (t Translation) inline(byHash bool) (rules []pass.Translation) {
	for _, service := range t.Service {
		r := pass.Translation{Address: service, Protocol: protocols[t.Protocol], First: t.Ports.First, Last: t.Ports.Last, Port: t.ToPort, ByHash: byHash}
		for _, a := range AllOfFamily(service, t.Served) {
			r.Targets = append(r.Targets, pass.Target{Address: a})
		}
		rules = append(rules, r)
	}
	for _, a := range t.Source {
		rules = append(rules, pass.Translation{Source: true, Targets: []pass.Target{{Address: a}}})
	}
	return rules
}

// TranslatingInline are the steps of a translator with these options. Connections that several addresses
// serve are shared out by hash, or by turns.
func TranslatingInline(kind Translator, options any, byHash bool) Steps {
	return Steps{
		Step:        func(int) pass.Step { return pass.NewNAT(0) },
		NAT:         func(site Site) pass.NAT { return pass.NAT{Rules: kind.Translates(site, options).inline(byHash)} },
		Connections: translated,
	}
}

// Translating is an empty rule set for translations on a hook.
func Translating(table, hook string, priority int) ruleset.Spec {
	return ruleset.Spec{Backend: ruleset.NFTables, Table: table, Hook: hook, Translates: true, Priority: priority, Policy: "accept", Rules: []ruleset.Rule{}}
}

// OfFamily is the first of the addresses that is of an address's family.
func OfFamily(of netip.Addr, among []netip.Addr) (netip.Addr, bool) {
	for _, a := range among {
		if a.Is4() == of.Is4() {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// AllOfFamily are those of the addresses that are of an address's family.
func AllOfFamily(of netip.Addr, among []netip.Addr) (list []netip.Addr) {
	for _, a := range among {
		if a.Is4() == of.Is4() {
			list = append(list, a)
		}
	}
	return list
}

// Addresses is a list of them as a user writes it, checked by [CheckAddresses].
type Addresses []string

// Parse gives the addresses of a checked list.
func (l Addresses) Parse() []netip.Addr {
	out := make([]netip.Addr, 0, len(l))
	for _, text := range l {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// CheckAddresses reports, by place, what is no address that a host can have, and what
// comes twice; with single, also a second of a family.
func CheckAddresses(l Addresses, single bool) map[int]string {
	wrong, seen, families := map[int]string{}, map[netip.Addr]bool{}, map[bool]bool{}
	for i, text := range l {
		a, err := netip.ParseAddr(text)
		switch {
		case err != nil || a.Zone() != "" || a.Is4In6() || a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast():
			wrong[i] = fmt.Sprintf("%q is not the address of a host; write one like 192.0.2.1 or 2001:db8::1", text)
		case seen[a]:
			wrong[i] = text + " is already among the addresses"
		case single && families[a.Is4()]:
			wrong[i] = text + " is a second address of its family; only one can be"
		}
		seen[a], families[a.Is4()] = true, true
	}
	return wrong
}
