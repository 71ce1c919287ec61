package deploy_test

import (
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
)

// TestMarkedFromTheFirst: what comes to namespaces of others, and would not go with one of
// the chain's own, has the chain's mark from the first moment that it is seen there. So a
// process may be killed at any, and down finds it.
func TestMarkedFromTheFirst(t *testing.T) {
	needsMacvlan(t)
	host := card(t)
	for name, wiring := range map[string]string{"veth": "", "macvlan": "wiring: macvlan\nmacvlan: {parent: " + host + "}\n"} {
		t.Run(name, func(t *testing.T) {
			left, right := nstest.Namespace(t), nstest.Namespace(t)
			p := planned(t, nstest.Owner(t), wiring+"endpoints: [{name: l, namespace: "+left+"}, {name: r, namespace: "+right+"}]\nfunctions: []\n")
			downAfter(t, p.Chain)
			seen := map[string]func() []string{left: watched(t, left), right: watched(t, right)}
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			for ns, aliases := range seen {
				all := aliases()
				if len(all) == 0 {
					t.Errorf("nothing was seen in %s", ns)
				}
				for _, alias := range all {
					if !resource.Owned(alias, p.Chain) {
						t.Errorf("in %s an interface was seen with the alias %q", ns, alias)
					}
				}
			}
		})
	}
}

// watched gives what aliases the chain's interfaces had in a namespace whenever the kernel
// told of one, until it is called.
func watched(t *testing.T, ns string) func() []string {
	t.Helper()
	told, done := make(chan netlink.LinkUpdate, 1000), make(chan struct{})
	inside(t, ns, func() error { return netlink.LinkSubscribe(told, done) })
	return func() (aliases []string) {
		defer close(done)
		sh(t, "ip -n "+ns+" link add last type veth peer name other; ip -n "+ns+" link del last")
		for u := range told {
			a := u.Attrs()
			if a.Name == "last" {
				return aliases
			}
			if u.Header.Type == unix.RTM_NEWLINK && strings.HasPrefix(a.Name, "nfc") {
				aliases = append(aliases, a.Alias)
			}
		}
		t.Error("the kernel no longer tells of interfaces")
		return aliases
	}
}
