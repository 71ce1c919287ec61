package run

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// Numbers of protocols (IANA).
const (
	protocolICMP   = 1
	protocolTCP    = 6
	protocolUDP    = 17
	protocolICMPv6 = 58
)

// everyPort that a packet may have.
var everyPort = api.PortRange{First: 1, Last: 65535}

// ephemeral ports are those that the kernel may choose.
var ephemeral = api.PortRange{First: 1024, Last: 65535}

// besidePorts are those behind the ports of a load that its tool may use, too.
const besidePorts = 16

// loadPath is the path of a condition's load, and of the packets that prove it; nil where a chain has one path alone.
// Where they may take several it is an error.
func loadPath(p *plan.Plan, c trial.Condition, tool traffic.Tool) (*plan.Path, error) {
	if p.Classifier == nil || c.Path == trial.PathDirect {
		return nil, nil
	}
	number := uint8(protocolUDP)
	if transport(c.Protocol) == trial.TCP {
		number = protocolTCP
	}
	numbers := []uint8{number}
	if _, portless := tool.(traffic.Portless); portless {
		numbers = append(numbers, protocolICMP)
	}
	service := p.Reached()
	first, _ := ports(service)
	to := api.PortRange{First: uint16(first), Last: uint16(min(first+max(c.Flows, 1)+besidePorts, 65535))}
	var flows []steer.Range
	for _, number := range numbers {
		flows = append(flows, rangesOf(p, c, number, to, steer.FirstEnd)...)
		if c.Bidirectional {
			flows = append(flows, rangesOf(p, c, number, to, steer.SecondEnd)...)
		}
	}
	path, err := onePath(p.Classifier, flows, fmt.Sprintf("the load of %s by %s, to ports %d to %d", c.Protocol, tool.Name(), to.First, to.Last))
	if err != nil || c.URL == "" {
		return path, err
	}
	return path, asksOn(p, c, path)
}

// asksOn refuses a URL whose requests take another path than the packets that prove the one which is measured.
func asksOn(p *plan.Plan, c trial.Condition, path *plan.Path) error {
	at, err := site(p, c, p.Reached().Addresses[0])
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrInput)
	}
	var flows []steer.Range
	over := uint8(protocolTCP)
	if api.IsEcho(c.URL) {
		over = protocolUDP
	}
	for _, s := range p.Client().East.Addresses {
		if s.Is4() == at.Addr().Is4() {
			flows = append(flows, steer.Range{Source: netip.PrefixFrom(s, s.BitLen()), Destination: netip.PrefixFrom(at.Addr(), at.Addr().BitLen()), Protocol: over,
				SourcePorts: everyPort, DestinationPorts: api.PortRange{First: at.Port(), Last: at.Port()}, VLAN: api.Untagged, From: steer.FirstEnd})
		}
	}
	if len(flows) == 0 {
		version := 4
		if at.Addr().Is6() {
			version = 6
		}
		return fmt.Errorf("url: %s has no IPv%d address, from which %s could be asked; have the chain have addresses of that version, or name another: %w", p.Client().Name, version, at.Addr(), ErrInput)
	}
	asked, err := onePath(p.Classifier, flows, "what asks for "+c.URL)
	if err == nil && asked.Name != path.Name {
		err = fmt.Errorf("url: requests to %s take the path %q, and packets that prove a path take %q; give both one path by the classifier's rules: %w", c.URL, asked.Name, path.Name, ErrInput)
	}
	return err
}

// rangesOf the flows of a load that begins at an end, of each family.
func rangesOf(p *plan.Plan, c trial.Condition, protocol uint8, to api.PortRange, from int) (all []steer.Range) {
	source, target := p.Client().East.Addresses, p.Reached().Addresses
	if from == steer.SecondEnd {
		source, target = p.Server().West.Addresses, p.Client().East.Addresses
	}
	spread := c.FlowsBy == trial.FlowsByAddresses || c.FlowsBy == trial.FlowsByBoth
	for _, a := range target {
		for _, s := range source {
			if s.Is4() != a.Is4() {
				continue
			}
			f := steer.Range{Source: netip.PrefixFrom(s, s.BitLen()), Destination: netip.PrefixFrom(a, a.BitLen()), Protocol: protocol, SourcePorts: everyPort, DestinationPorts: to, VLAN: api.Untagged, From: from}
			if spread { // over networks that nobody is in, and spare addresses
				f.Source, f.Destination = netip.PrefixFrom(s, 0).Masked(), netip.PrefixFrom(a, 0).Masked()
			}
			if protocol == protocolICMP {
				f.SourcePorts, f.DestinationPorts = api.PortRange{}, api.PortRange{}
				if a.Is6() {
					f.Protocol = protocolICMPv6
				}
			}
			if c.VLAN != 0 {
				f.VLAN = uint16(c.VLAN)
			}
			all = append(all, f)
		}
	}
	return all
}

// onePath that flows take, or why that is not known.
func onePath(c *plan.Classifier, flows []steer.Range, what string) (*plan.Path, error) {
	var paths []string
	for _, f := range flows {
		taken, drops := c.Choice.Taken(f)
		if drops {
			return nil, fmt.Errorf("%s may match no rule of the classifier, and then ends where it comes in; give it a rule: %w", what, ErrInput)
		}
		for _, path := range taken {
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	if len(paths) == 1 {
		return c.Path(paths[0]), nil
	}
	var words []string
	for _, path := range paths {
		words = append(words, fmt.Sprintf("%q", c.Path(path).Text()))
	}
	return nil, fmt.Errorf("%s may take the paths %s by the rules of the classifier, and it would not be known which; have one rule match all of it: %w", what, strings.Join(words, " and "), ErrInput)
}

// tellPath has the reader know which of several paths the load takes.
func (m *Measurement) tellPath(ctx context.Context, c trial.Condition, path *plan.Path, r *trial.Run) error {
	if path == nil {
		return nil
	}
	text := fmt.Sprintf("the classifier leads the load of %s by the path %q; what it measures is that one", c.Protocol, path.Text())
	if slices.Contains(r.Warnings, text) {
		return nil
	}
	r.Warnings = append(r.Warnings, text)
	return m.Store.SetWarnings(context.WithoutCancel(ctx), r.ID, r.Warnings)
}

// Explained is a chain as packets of a flow see it: on the path that the ports know for it, be it an older one, or else on the one that rules
// give it, and with those of its functions that fail.
func Explained(p *plan.Plan, f trace.Flow) (trace.Chain, error) {
	c, err := explainedOn(p, f)
	if err != nil {
		return c, err
	}
	if c.Nodes, err = withReplicas(p, c.Nodes); err != nil {
		return c, err
	}
	watched, err := OnWatch(p.Chain)
	c.Failing = watched.failing(p)
	return c, err
}

// explainedOn the path that a flow takes.
func explainedOn(p *plan.Plan, f trace.Flow) (trace.Chain, error) {
	if older, stays, err := olderPath(p, f); stays || err != nil {
		return older, err
	}
	c := p.Classifier
	if c == nil {
		return Traced(p), nil
	}
	first := firstOf(f)
	path, rule, known, err := knownPath(p, first)
	if err != nil {
		return trace.Chain{}, err
	}
	goes, why := true, "by "
	if known {
		why = "which the flow is on by "
	} else {
		rule, path, goes = c.Choice.Of(first)
	}
	if !goes {
		ends := &plan.Path{Nodes: []string{p.Client().Name, p.Server().Name}}
		return unmet(TracedOn(p, ends, "path: none; no rule of the classifier matches, and otherwise: drop ends it where it comes in"), c, rule, first), nil
	}
	text := fmt.Sprintf("path: %s, %s%s", c.Path(path).Whole(), why, ruleText(c, rule))
	if f.Goal != "" && rule >= 0 && rule < c.Own {
		text = fmt.Sprintf("path: as far as %s, whose own addresses packets reach whatever the rules say", f.Goal)
	}
	return unmet(TracedOn(p, c.Path(path), text), c, rule, first), nil
}

// mostUnmet rules are told of one by one.
const mostUnmet = 20

// unmet adds to a chain why no rule of the file's gave a flow its path, where none did.
func unmet(chain trace.Chain, c *plan.Classifier, rule int, f steer.First) trace.Chain {
	rules := c.Choice.Rules[c.Own:]
	if rule != len(c.Choice.Rules) {
		return chain
	}
	for i, r := range rules {
		if i == mostUnmet {
			chain.Unmet = append(chain.Unmet, fmt.Sprintf("nor by %s more", words.Plural(len(rules)-i, "rule")))
			break
		}
		chain.Unmet = append(chain.Unmet, fmt.Sprintf("not by rule %s, which asks for %s", r.Name, r.Unmet(f)))
	}
	return chain
}

// ruleText names the rule of a place for a person.
func ruleText(c *plan.Classifier, rule int) string {
	if rule == steer.Earlier {
		return "rules before those that are now"
	}
	if rule < len(c.Choice.Rules) {
		return "rule " + c.Choice.Rules[rule].Name
	}
	return fmt.Sprintf("no rule (otherwise: %s)", c.OtherwiseText())
}

// firstOf a flow is what rules ask of its packets.
func firstOf(f trace.Flow) steer.First {
	first := steer.First{Source: f.From.Addr(), Destination: f.To.Addr(), SourcePort: f.From.Port(), DestinationPort: f.To.Port(), Protocol: f.Number(), CodePoint: f.CodePoint, VLAN: api.Untagged, From: steer.FirstEnd, Opens: f.Number() == protocolTCP}
	if f.Reverse {
		first.From = steer.SecondEnd
	}
	if f.Tagged {
		first.VLAN = f.VLAN
	}
	return first
}

// knownPath of a flow, by the port where it comes in.
func knownPath(p *plan.Plan, f steer.First) (path string, rule int, known bool, err error) {
	if !netns.Exists(p.Between()) {
		return "", 0, false, nil
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return "", 0, false, err
	}
	defer h.Close()
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Paths != nil && s.Paths.End == f.From {
			return steer.KnownPath(resource.At(h, p.Chain), s, f)
		}
	}
	return "", 0, false, nil
}

// Sent is a chain as datagrams with a code point see it that trace sends, whose ports the kernel chooses.
func Sent(p *plan.Plan, codePoint uint8) (trace.Chain, error) {
	if p.Classifier == nil {
		return Traced(p), nil
	}
	c := trial.Condition{}
	flows := rangesOf(p, c, protocolUDP, ephemeral, steer.FirstEnd)
	for i := range flows {
		flows[i].FirstCodePoint, flows[i].LastCodePoint = codePoint, codePoint
	}
	path, err := onePath(p.Classifier, flows, "datagrams to a port from 1024 on")
	if err != nil {
		return trace.Chain{}, fmt.Errorf("%w; `nfchain explain` takes a flow by its ports", err)
	}
	return TracedOn(p, path, fmt.Sprintf("path of what is sent: %s", path.Whole())), nil
}
