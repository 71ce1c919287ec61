// Package ruleset makes packet filter rule sets in a namespace, by nf_tables or
// by iptables. A rule set is replaced as a whole; with iptables that is one
// transaction for each address family.
package ruleset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
)

// KindName of rule sets in a plan.
const KindName = "ruleset"

// The programs that can hold a rule set.
const (
	NFTables = "nftables"
	IPTables = "iptables"
)

// Spec of a rule set: one list of rules on one netfilter hook or several.
type Spec struct {
	Backend string `json:"backend"`
	// Table is the name of the nf_tables table (family inet); iptables uses its
	// own filter table and a chain named after the rule set's content.
	Table string `json:"table"`
	// Hook is prerouting, forward, postrouting, input or output.
	Hook string `json:"hook"`
	// AlsoHooks are later ones, in the order in which packets meet them, where the same
	// rules apply and count.
	AlsoHooks []string `json:"also_hooks,omitempty"`
	// Translates tells that the rules see only the first packet of each connection, and
	// may translate its addresses.
	Translates bool `json:"translates,omitempty"`
	Priority   int  `json:"priority"`
	// Policy for what no rule decides: accept or drop.
	Policy string `json:"policy"`
	Rules  []Rule `json:"rules"`
}

// Rule is what to match and what to do then. All given matches must hold.
type Rule struct {
	Match
	// Verdict is accept, drop, or "" to go on to the next rule.
	Verdict string `json:"verdict,omitempty"`
	// Counted rules count packets and bytes.
	Counted bool `json:"counted,omitempty"`
	// Class sets the packet's priority to this traffic class (major<<16 | minor).
	Class uint32 `json:"class,omitempty"`
	// HopLimit sets the IPv4 time to live or the IPv6 hop limit, as Match.Family says.
	HopLimit uint8 `json:"hop_limit,omitempty"`
	// Translate the connection; such a rule decides.
	Translate *Translation `json:"translate,omitempty"`
	Comment   string       `json:"comment,omitempty"`
}

// Translation gives the packets of a connection another address, and those of the
// answers the old one back.
type Translation struct {
	// Kind is source, destination or masquerade: the address of the interface by which
	// they leave, as it then is.
	Kind    string     `json:"kind"`
	Address netip.Addr `json:"address,omitzero"`
	// Port is the destination's new one; 0 leaves it.
	Port uint16 `json:"port,omitempty"`
}

// The kinds of translation.
const (
	Source      = "source"
	Destination = "destination"
	Masquerade  = "masquerade"
)

// Match selects packets. Zero fields select everything.
type Match struct {
	// Family is 4 or 6, or 0 for both.
	Family           int          `json:"family,omitempty"`
	InputDevice      string       `json:"input_device,omitempty"`
	OutputDevice     string       `json:"output_device,omitempty"`
	Source           netip.Prefix `json:"source,omitzero"`
	Destination      netip.Prefix `json:"destination,omitzero"`
	Protocol         string       `json:"protocol,omitempty"`
	SourcePorts      Ports        `json:"source_ports,omitzero"`
	DestinationPorts Ports        `json:"destination_ports,omitzero"`
	// States of the connection: new, established, related, invalid.
	States []string `json:"states,omitempty"`
	// ConnectionBytes is the least number of bytes, both ways, that the
	// connection must have carried. Such a rule has the kernel count them.
	ConnectionBytes uint64 `json:"connection_bytes,omitempty"`
	// OneIn matches the first of every so many packets that come to the rule.
	OneIn uint32 `json:"one_in,omitempty"`
	// Share of packets by their source address and port; Family must be given.
	Share Share `json:"share,omitzero"`
}

// Share is one of several parts of all sources, about equal and always the same.
type Share struct {
	Part uint32 `json:"part"`
	Of   uint32 `json:"of"`
}

// Ports is an inclusive range; zero is every port.
type Ports struct {
	First uint16 `json:"first"`
	Last  uint16 `json:"last"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the backend with the table and its hooks.
func (s Spec) Key() string { return key(s.Backend, s.Table, s.hooks()) }

func key(backend, table string, hooks []string) string {
	return backend + "/" + table + "/" + strings.Join(hooks, "+")
}

// inOrder are the hooks in the order in which packets meet them.
var inOrder = []string{"prerouting", "input", "forward", "output", "postrouting"}

func (s Spec) hooks() []string { return append([]string{s.Hook}, s.AlsoHooks...) }

// jumps tells that the rules are in a chain of their own, to which each hook jumps.
func (s Spec) jumps() bool { return len(s.AlsoHooks) > 0 }

// rulesChain is the name of the nf_tables chain that has the rules.
func (s Spec) rulesChain() string {
	if s.jumps() {
		return "rules"
	}
	return s.Hook
}

// Fingerprint is the policy, a digest of the rules and how many there are, all
// of which the kernel holds and gives back.
func (s Spec) Fingerprint() string { return fingerprint(s.Policy, s.digest(), s.rows()) }

func fingerprint(policy, digest string, rows int) string {
	return fmt.Sprintf("%s policy=%s rules=%d", digest, policy, rows)
}

// digest names the content of the rule set.
func (s Spec) digest() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Spec is plain data
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// rows is the number of rules that the backend will hold.
func (s Spec) rows() int {
	n := 0
	if s.countsPolicy() {
		n++
	}
	if s.Backend != IPTables {
		if s.jumps() {
			n += len(s.hooks())
		}
		return n + len(s.Rules)
	}
	for _, r := range s.Rules {
		for _, family := range families {
			if r.appliesTo(family) {
				n++
			}
		}
	}
	return n
}

// countsPolicy tells that a rule at the end counts what the policy drops. iptables
// counts that itself.
func (s Spec) countsPolicy() bool { return s.Backend != IPTables && s.Policy == "drop" }

// family of the addresses a rule names, or 0.
func (m Match) family() int {
	for _, p := range []netip.Prefix{m.Source, m.Destination} {
		if p.IsValid() && p.Addr().Is4() {
			return 4
		}
		if p.IsValid() {
			return 6
		}
	}
	return m.Family
}

func (m Match) appliesTo(family int) bool { return m.family() == 0 || m.family() == family }

// Counter is what one rule counted.
type Counter struct {
	// Function that the rule is of, where several share a namespace.
	Function string `json:"function,omitempty"`
	Rule     int    `json:"rule"`
	Comment  string `json:"comment"`
	// Text is what the rule matches and does, as nft(8) writes it, whatever the backend.
	Text string `json:"text"`
	// Verdict is accept or drop; absent where the next rule is asked, too.
	Verdict string `json:"verdict,omitempty"`
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// Dropped is what the policy dropped, because no rule decided over it.
type Dropped struct {
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// Counters of a rule set.
type Counters struct {
	Rules []Counter
	// Dropped is nil where the policy is to accept.
	Dropped *Dropped
}

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	if s.Backend != IPTables {
		c := resource.In(ns, "nft", "-f", "-")
		c.Stdin = s.nft()
		return []resource.Command{c}
	}
	var out []resource.Command
	for _, family := range families {
		c := resource.In(ns, restoreTool(family))
		c.Stdin = s.iptables(family)
		out = append(out, c)
	}
	return out
}
