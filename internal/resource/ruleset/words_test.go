package ruleset

import (
	"net/netip"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
)

var _ resource.Worded = Spec{}

// TestWords of a rule set are its hooks and a line for each rule, by either backend.
func TestWords(t *testing.T) {
	s := Spec{Backend: IPTables, Table: "nfchain-firewall", Hook: "forward", AlsoHooks: []string{"input"}, Policy: "drop", Rules: []Rule{
		{Match: Match{Protocol: "tcp", DestinationPorts: Ports{First: 443, Last: 443}}, Verdict: "accept", Comment: "web"},
		{Match: Match{Source: netip.MustParsePrefix("192.0.2.0/24")}, Verdict: "drop", Counted: true},
	}}
	want := []string{"type filter hook forward priority 0; policy drop;", "type filter hook input priority 0; policy drop;",
		`meta l4proto tcp th dport 443 accept comment "web"`, "ip saddr 192.0.2.0/24 counter drop"}
	if lines := s.Words(); !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}
