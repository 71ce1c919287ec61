package run

import (
	"net/netip"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/trial"
)

// TestSite has URLs lead to functions, the second end and addresses, and refuses others.
func TestSite(t *testing.T) {
	chain := plantest.Chain(t, "edge", "functions: [{name: fw, kind: forward}, {name: shop, kind: forward}]\n")
	p, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	end := netip.MustParseAddr("192.0.2.1")
	shop := p.Nodes[2].West.Addresses[0]
	for _, c := range []struct{ url, path, want, refused string }{
		{"http://shop:8080/x", trial.PathChain, netip.AddrPortFrom(shop, 8080).String(), ""},
		{"http://server/", trial.PathChain, "192.0.2.1:80", ""},
		{"http://server/", trial.PathDirect, "192.0.2.1:80", ""},
		{"http://198.51.100.9:81/", trial.PathChain, "198.51.100.9:81", ""},
		{"http://[2001:db8::1]/", trial.PathChain, "[2001:db8::1]:80", ""},
		{"", trial.PathDirect, "invalid AddrPort", ""},
		{"http://shop/", trial.PathDirect, "", "shop is a function"},
		{"http://198.51.100.9:81/", trial.PathDirect, "", "198.51.100.9 is an address, to which the path without functions does not lead"},
		{"http://[2001:db8::1]/", trial.PathDirect, "", "leave the direct path out (--direct=false), or write server for the second end"},
		{"http://client/", trial.PathChain, "", `no "client" behind the first end; write one of fw, shop, server`},
		{"http://elsewhere/", trial.PathChain, "", `no "elsewhere"`},
	} {
		condition := trial.Condition{Path: c.path, Web: trial.Web{URL: c.url}}
		if err := mayAsk(chain, condition); (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s over the %s path: error %v, want %q", c.url, c.path, err, c.refused)
		}
		if c.refused != "" {
			continue
		}
		if got, err := site(p, condition, end); err != nil || got.String() != c.want {
			t.Errorf("%s over the %s path leads to %s, want %s, error %v", c.url, c.path, got, c.want, err)
		}
	}
}
