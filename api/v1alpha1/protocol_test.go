package v1alpha1

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestProtocols: each number that may be named reads as itself, and is the protocol that has that name.
func TestProtocols(t *testing.T) {
	for text, want := range map[Protocol]uint8{"tcp": 6, "6": 6, "udp": 17, "17": 17, "sctp": 132, "dccp": 33, "udplite": 136, "icmp": 1, "icmpv6": 58, "gre": 47, "esp": 50, "050": 50, "ah": 51, "89": 89, "255": 255} {
		if n, err := text.Number(); err != nil || n != want {
			t.Errorf("%q: %d, %v, want %d", text, n, err, want)
		}
	}
	for _, name := range ProtocolNames() {
		n, err := Protocol(name).Number()
		if err != nil || ProtocolOf(n) != Protocol(name) || Protocol(name).Text() != name {
			t.Errorf("%s is %d (%v), and that %s", name, n, err, ProtocolOf(n))
		}
	}
	for n := range uint8(255) {
		p := ProtocolOf(n)
		if got, err := p.Number(); err == nil && got != n || (err != nil) != (n == 0 || n == 43 || n == 44 || n == 60 || n == 135 || n == 140) {
			t.Errorf("%d is %s, which is %d (%v)", n, p, got, err)
		}
		if numbered := Protocol(strconv.Itoa(int(n))); numbered.Ported() != p.Ported() || numbered.Version() != p.Version() {
			t.Errorf("%s is not as %s is", numbered, p)
		}
	}
	for text, want := range map[Protocol]string{"": "is not a protocol", "-1": "is not a protocol", "+6": "is not a protocol", "0x6": "is not a protocol", "TCP": "is not a protocol", "6,17": "is not a protocol",
		"256": "or a number from 1 to 255", "0": "0 is an extension header of IPv6", "43": "write that one"} {
		if n, err := text.Number(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v, want %q", text, n, err, want)
		}
	}
	if got := Protocol("89").Text(); got != "protocol 89" {
		t.Error(got)
	}
}

// TestProtocolsAreReadAsNumbersToo, from YAML and by the schema.
func TestProtocolsAreReadAsNumbersToo(t *testing.T) {
	schema := compiledSchema(t)
	for written, want := range map[string]Protocol{"50": "50", `"50"`: "50", "gre": "gre", "132, destination_port: 80": "132", "6, source_port: 1": "6"} {
		text := fmt.Sprintf("apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: edge}\nspec:\n  wiring: bridge\n  classifier: {rules: [{name: a, match: {protocol: %s}, functions: []}]}\n", written)
		f := mustDecode(t, []byte(text))
		equal(t, written, f.Chains[0].Spec.Classifier.Rules[0].Match.Protocol, want)
		equal(t, written+" again", mustDecode(t, encode(t, f)).Chains[0].Spec.Classifier.Rules[0].Match.Protocol, want)
		if err := validate(t, schema, []byte(text)); err != nil {
			t.Errorf("%s is read, and the schema refuses it: %v", written, err)
		}
	}
}
