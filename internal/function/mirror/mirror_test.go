package mirror_test

import (
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/mirror"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/redirect"
)

// TestContributes a tap that forwards nothing, and a copy of what comes in.
func TestContributes(t *testing.T) {
	for direction, want := range map[api.Direction][]string{api.Both: {"eth0", "eth1"}, api.Forward: {"eth0"}, api.Reverse: {"eth1"}} {
		site := function.Site{Owner: "edge", Node: "m", Namespace: "nfchain.edge.m", West: "eth0", East: "eth1", MTU: 9000, Direction: direction}
		made, err := (mirror.Kind{}).Contribute(site, nil)
		if err != nil {
			t.Fatal(err)
		}
		var copied []string
		for _, r := range made {
			switch s := r.Spec.(type) {
			case namespace.Spec:
				if s.Name != "nfchain.edge.m.tap" || slices.ContainsFunc(s.Sysctls, func(c namespace.Sysctl) bool { return c.Path == "net/ipv4/ip_forward" }) {
					t.Errorf("%+v", s)
				}
			case link.Spec:
				if r.Namespace != site.Namespace || s.B.Namespace != "nfchain.edge.m.tap" || !s.Quiet || s.MTU != 9000 || s.A.MAC == s.B.MAC {
					t.Errorf("%+v", r)
				}
			case redirect.Spec:
				copied = append(copied, s.Device)
				if !s.Copy || s.To != mirror.Out {
					t.Errorf("%+v", s)
				}
			}
		}
		if !slices.Equal(copied, want) {
			t.Errorf("%s: %v", direction, copied)
		}
	}
	if _, err := (mirror.Kind{}).Contribute(function.Site{Owner: "m", Node: "m"}, nil); err == nil {
		t.Error("it stands alone")
	}
}
