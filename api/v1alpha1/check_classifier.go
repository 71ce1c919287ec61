package v1alpha1

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
)

// MostPaths that the rules of a classifier can lead to, those of flows that no rule matches not counted.
const MostPaths = 64

// checkClassifier wants rules that a chain's functions can keep.
func (c Catalogue) checkClassifier(s *ChainSpec, wiring string, at place) []FieldProblem {
	var f findings
	if s.Classifier == nil {
		return nil
	}
	if wiring != anyWiring && !slices.Contains(c.Replicating, wiring) {
		f.addf("", "wiring %s cannot have several paths; use wiring: %s, or leave classifier out", wiring, strings.Join(c.Replicating, " or "))
	}
	first, paths := map[string]string{}, map[string]bool{}
	for i, r := range s.Classifier.Rules {
		path := item("rules", i)
		if err := CheckName(r.Name); err != nil {
			f.add(path+".name", err.Error())
		} else if other := first[r.Name]; other != "" {
			f.addf(path+".name", "%s is already the name of %s", quote(r.Name), other)
		} else {
			first[r.Name] = path
		}
		if !at.lost(path + ".functions") {
			f.under(path, checkPath(r, s))
		}
		f.under(path+".match", r.Match.check(s))
		f.under(path, r.checkSymmetry(s))
		if paths[fmt.Sprint(r.Functions, r.OneWay())] = true; len(paths) == MostPaths+1 {
			f.addf(path+".functions", "is path %d, and there can be %d different ones", len(paths), MostPaths)
		}
	}
	return f
}

// checkPath wants functions of the chain, each once, and all that share a namespace or none of them.
func checkPath(r PathRule, s *ChainSpec) []FieldProblem {
	var f findings
	var names []string
	for _, fn := range s.Functions {
		names = append(names, fn.Name)
	}
	for i, name := range r.Functions {
		switch path := item("functions", i); {
		case !slices.Contains(names, name):
			f.addf(path, "%s is not a function of the chain%s", quote(name), nearest.Hint(name, names))
		case slices.Contains(r.Functions[:i], name):
			f.addf(path, "%s is there already; write it once", quote(name))
		}
	}
	for _, seat := range s.Seats() {
		var in, out []string
		for _, fn := range seat.Functions {
			if slices.Contains(r.Functions, fn.Name) {
				in = append(in, fn.Name)
			} else {
				out = append(out, fn.Name)
			}
		}
		if len(in) > 0 && len(out) > 0 {
			f.addf("functions", "has %s and not %s, which share the namespace of group %s; write all of them or none", strings.Join(in, ", "), strings.Join(out, ", "), seat.Name)
		} else if len(in) > 0 && !together(r.Functions, in) {
			f.addf("functions", "packets meet those of group %s one after the other, in their namespace; write %s in a row", seat.Name, strings.Join(in, ", "))
		}
	}
	return f
}

// together tells whether names are in a row in a list that has them all.
func together(list, names []string) bool {
	at := slices.Index(list, names[0])
	return at+len(names) <= len(list) && slices.Equal(list[at:at+len(names)], names)
}

// check what a rule asks of flows.
func (m FlowMatch) check(s *ChainSpec) []FieldProblem {
	var f findings
	wrong := func(path string, err error) {
		if err != nil {
			f.add(path, err.Error())
		}
	}
	sources, err := m.Source.Parse()
	wrong("source", err)
	destinations, err := m.Destination.Parse()
	wrong("destination", err)
	_, err = m.SourcePort.Parse()
	wrong("source_port", err)
	_, err = m.DestinationPort.Parse()
	wrong("destination_port", err)
	_, err = m.DSCP.Parse()
	wrong("dscp", err)
	_, err = m.VLAN.Parse()
	wrong("vlan", err)
	if len(sources) > 0 && len(destinations) > 0 && !slices.ContainsFunc(sources, func(p netip.Prefix) bool { return hasFamily(destinations, p.Addr().Is4()) }) {
		f.addf("destination", "%s is of another address family than source %s", m.Destination, m.Source)
	}
	f.add("protocol", m.checkProtocol(append(sources, destinations...)))
	if m.Ingress != "" && len(s.Endpoints) == 2 {
		f.add("ingress", unknown(m.Ingress, "name of an end of the chain", []string{s.Endpoints[0].Name, s.Endpoints[1].Name}))
	}
	return f
}

func hasFamily(prefixes []netip.Prefix, four bool) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Addr().Is4() == four })
}

func (m FlowMatch) checkProtocol(prefixes []netip.Prefix) string {
	if m.Protocol != "" {
		if _, err := m.Protocol.Number(); err != nil {
			return err.Error()
		}
	}
	switch version := m.Protocol.Version(); {
	case (m.SourcePort != "" || m.DestinationPort != "") && !m.Protocol.Ported():
		return "ports need a protocol that has them: tcp, udp, sctp, dccp or udplite"
	case version != 0 && len(prefixes) > 0 && !hasFamily(prefixes, version == 4):
		return fmt.Sprintf("rules know %s in IPv%d alone, and %s is not of that; name another protocol, or other addresses", m.Protocol.Text(), version, prefixes[0])
	}
	return ""
}
