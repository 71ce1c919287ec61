package ruleset

import (
	"fmt"
	"slices"
	"strings"
)

const contentPrefix = "content-"

// markChain is the name of an empty chain that says which content the table has;
// it is replaced in the same transaction as the rules.
func (s Spec) markChain() string { return contentPrefix + s.digest() }

// nft is the rule set as an nft(8) script.
func (s Spec) nft() string {
	var b strings.Builder
	fmt.Fprintf(&b, "table inet %s\ndelete table inet %s\n", s.Table, s.Table)
	fmt.Fprintf(&b, "table inet %s {\n\tchain %s {\n", s.Table, s.rulesChain())
	if !s.jumps() {
		b.WriteString(s.nftBase(s.Hook))
	}
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "\t\t%s\n", strings.Join(r.nft(), " "))
	}
	if s.countsPolicy() {
		b.WriteString("\t\tcounter\n")
	}
	if s.jumps() {
		for _, hook := range s.hooks() {
			fmt.Fprintf(&b, "\t}\n\tchain %s {\n%s\t\tjump %s\n", hook, s.nftBase(hook), s.rulesChain())
		}
	}
	fmt.Fprintf(&b, "\t}\n\tchain %s {\n\t}\n}\n", s.markChain())
	return b.String()
}

// nftBase is what makes a chain a hook's.
func (s Spec) nftBase(hook string) string {
	kind := "filter"
	if s.Translates {
		kind = "nat"
	}
	return fmt.Sprintf("\t\ttype "+kind+" hook %s priority %d; policy %s;\n", hook, s.Priority, s.Policy)
}

// Text is what a rule matches and does, as nft(8) writes it.
func (r Rule) Text() string {
	r.Counted, r.Comment = false, ""
	return strings.Join(r.nft(), " ")
}

func (r Rule) nft() []string {
	var w []string
	// The family of addresses follows from them.
	if r.Family != 0 && !r.Source.IsValid() && !r.Destination.IsValid() {
		w = append(w, "meta", "nfproto", map[int]string{4: "ipv4", 6: "ipv6"}[r.Family])
	}
	ip := map[int]string{4: "ip", 6: "ip6"}[r.family()]
	if r.InputDevice != "" {
		w = append(w, "iifname", quote(r.InputDevice))
	}
	if r.OutputDevice != "" {
		w = append(w, "oifname", quote(r.OutputDevice))
	}
	if r.Source.IsValid() {
		w = append(w, ip, "saddr", r.Source.String())
	}
	if r.Destination.IsValid() {
		w = append(w, ip, "daddr", r.Destination.String())
	}
	w = append(w, r.nftTransport()...)
	if len(r.States) > 0 {
		w = append(w, "ct", "state", strings.Join(r.States, ","))
	}
	if r.ConnectionBytes > 0 {
		w = append(w, "ct", "bytes", ">=", fmt.Sprint(r.ConnectionBytes))
	}
	w = append(w, r.shareText()...)
	if r.Counted {
		w = append(w, "counter")
	}
	if r.Class != 0 {
		w = append(w, "meta", "priority", "set", fmt.Sprintf("%x:%x", r.Class>>16, r.Class&0xffff))
	}
	if r.HopLimit != 0 {
		w = append(w, ip, map[int]string{4: "ttl", 6: "hoplimit"}[r.Family], "set", fmt.Sprint(r.HopLimit))
	}
	w = append(w, r.Translate.nft()...)
	if r.Verdict != "" {
		w = append(w, r.Verdict)
	}
	if r.Comment != "" {
		w = append(w, "comment", quote(r.Comment))
	}
	return w
}

func (r Rule) nftTransport() []string {
	var w []string
	if r.Protocol != "" {
		w = append(w, "meta", "l4proto", nftProtocol(r.Protocol))
	}
	if r.SourcePorts != (Ports{}) {
		w = append(w, "th", "sport", r.SourcePorts.with("-"))
	}
	if r.DestinationPorts != (Ports{}) {
		w = append(w, "th", "dport", r.DestinationPorts.with("-"))
	}
	return w
}

func nftProtocol(name string) string {
	if name == "icmpv6" {
		return "ipv6-icmp"
	}
	return name
}

// with writes the range with the given sign between its ends.
func (p Ports) with(sign string) string {
	if p.First == p.Last {
		return fmt.Sprint(p.First)
	}
	return fmt.Sprintf("%d%s%d", p.First, sign, p.Last)
}

// quote makes an nft string; the words that come here hold no quotes.
func quote(s string) string { return `"` + s + `"` }

func restoreTool(family int) string {
	return map[int]string{4: "iptables-restore", 6: "ip6tables-restore"}[family]
}

func saveTool(family int) string {
	return map[int]string{4: "iptables-save", 6: "ip6tables-save"}[family]
}

const chainPrefix = "nfchain-"

// iptablesChain holds the rules; its name says which content it has.
func (s Spec) iptablesChain() string { return chainPrefix + s.digest() }

// iptables is the rule set for iptables-restore(8): the whole filter table of
// the namespace, which belongs to the function.
func (s Spec) iptables(family int) string {
	var b strings.Builder
	chain := s.iptablesChain()
	b.WriteString("*filter\n")
	for _, hook := range filterHooks {
		policy := "accept"
		if slices.Contains(s.hooks(), hook) {
			policy = s.Policy
		}
		fmt.Fprintf(&b, ":%s %s [0:0]\n", strings.ToUpper(hook), strings.ToUpper(policy))
	}
	fmt.Fprintf(&b, ":%s - [0:0]\n", chain)
	for _, r := range s.Rules {
		if r.appliesTo(family) {
			fmt.Fprintf(&b, "-A %s %s\n", chain, strings.Join(r.iptables(family), " "))
		}
	}
	for _, hook := range s.hooks() {
		fmt.Fprintf(&b, "-A %s -j %s\n", strings.ToUpper(hook), chain)
	}
	b.WriteString("COMMIT\n")
	return b.String()
}

// filterHooks are those of iptables' filter table.
var filterHooks = []string{"input", "forward", "output"}

func (r Rule) iptables(family int) []string {
	var w []string
	if r.InputDevice != "" {
		w = append(w, "-i", r.InputDevice)
	}
	if r.Source.IsValid() {
		w = append(w, "-s", r.Source.String())
	}
	if r.Destination.IsValid() {
		w = append(w, "-d", r.Destination.String())
	}
	if r.Protocol != "" {
		w = append(w, "-p", r.Protocol)
	}
	if r.SourcePorts != (Ports{}) {
		w = append(w, "--sport", r.SourcePorts.with(":"))
	}
	if r.DestinationPorts != (Ports{}) {
		w = append(w, "--dport", r.DestinationPorts.with(":"))
	}
	if len(r.States) > 0 {
		w = append(w, "-m", "conntrack", "--ctstate", strings.ToUpper(strings.Join(r.States, ",")))
	}
	if r.ConnectionBytes > 0 {
		w = append(w, "-m", "connbytes", "--connbytes", fmt.Sprintf("%d:", r.ConnectionBytes),
			"--connbytes-dir", "both", "--connbytes-mode", "bytes")
	}
	if r.Comment != "" {
		w = append(w, "-m", "comment", "--comment", quote(r.Comment))
	}
	if r.Verdict != "" {
		w = append(w, "-j", strings.ToUpper(r.Verdict))
	}
	return w
}
