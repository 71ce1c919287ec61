package proof_test

import (
	"context"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic/proof"
	"nfchain.dev/nfchain/internal/trial"
)

const between = "functions:\n- {name: a, kind: forward}\n- {name: nat, kind: nat, NAT}\n- {name: b, kind: forward}\n"

// TestTranslated proves chains that give packets other addresses and ports on the way.
func TestTranslated(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTNAT)
	for name, nat := range map[string]string{
		"masquerade":  "nat: {source: {masquerade: true}}",
		"source":      "nat: {source: {}}",
		"destination": "nat: {destination: {}}",
		"both":        "nat: {source: {}, destination: {}}",
		"public":      `nat: {source: {addresses: [203.0.113.1, "2001:db8::1"]}, destination: {addresses: [203.0.113.2, "2001:db8::2"]}}`,
		"reverse":     "direction: reverse, nat: {source: {}, destination: {}}",
		"tcp port":    "nat: {source: {}, destination: {protocol: tcp, port: 80, to_port: 8080}}",
		"udp ports":   "nat: {destination: {protocol: udp, port: 5000-6000}}",
	} {
		for _, families := range []string{"", "addresses: {ipv4: none}\n"} {
			if families != "" { // no IPv4 then
				nat = strings.NewReplacer("203.0.113.1, ", "", "203.0.113.2, ", "").Replace(nat)
			}
			t.Run(name+" "+families, func(t *testing.T) {
				p := up(t, natted(nat)+families)
				for _, protocol := range protocols {
					if s := p.Reached(); s.Protocol != "" && s.Protocol != protocol {
						continue
					}
					seen, err := proof.Check(context.Background(), path(p, protocol))
					if err != nil || len(seen) != 3 {
						t.Errorf("%s: %v, error %v", protocol, seen, err)
					}
				}
			})
		}
	}
}

// TestTwoNATs, one behind the other.
func TestTwoNATs(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTNAT)
	p := up(t, "functions:\n- {name: a, kind: nat, nat: {source: {}, destination: {protocol: tcp, port: 80, to_port: 8080}}}\n"+
		"- {name: b, kind: nat, nat: {source: {masquerade: true}, destination: {}}}\n")
	if _, err := proof.Check(context.Background(), path(p, trial.TCP)); err != nil {
		t.Error(err)
	}
}

// TestNotTranslated takes each of the translations away: the path is proven no more,
// though packets arrive without that of the source.
func TestNotTranslated(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTNAT, feature.ToolNFT)
	for table, want := range map[string]string{
		"nfchain-nat-source":      "packets come from",
		"nfchain-nat-destination": "drops them",
	} {
		p := up(t, natted("nat: {source: {}, destination: {}}"))
		if out, err := exec.Command("ip", "netns", "exec", p.Functions()[1].Namespace, "nft", "flush table inet "+table).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, protocol := range protocols {
			refused(t, path(p, protocol), want)
		}
	}
}

// TestPortNotTranslated sends past the port that is.
func TestPortNotTranslated(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTNAT)
	p := up(t, natted("nat: {destination: {protocol: tcp, port: 80, to_port: 8080}}"))
	for _, protocol := range protocols {
		other := path(p, protocol)
		other.To = netip.AddrPortFrom(other.To.Addr(), 81)
		refused(t, other, "")
	}
	refused(t, path(p, trial.UDP), "")
}

// TestSharedOut proves that whatever back end a connection gets is behind the chain.
func TestSharedOut(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTNAT)
	for _, by := range []string{"round-robin", "hash"} {
		p := up(t, "endpoints: [{name: client}, {name: server, addresses: [203.0.113.1, 203.0.113.2]}]\n"+
			"functions:\n- {name: a, kind: forward}\n- {name: lb, kind: loadbalancer, loadbalancer: {by: "+by+"}}\n- {name: b, kind: forward}\n")
		for range 3 { // one for each
			for _, protocol := range protocols {
				anywhere := path(p, protocol)
				anywhere.At = netip.AddrPortFrom(netip.IPv4Unspecified(), anywhere.At.Port())
				if seen, err := proof.Check(context.Background(), anywhere); err != nil {
					t.Errorf("%s %s: %v, error %v", by, protocol, seen, err)
				}
			}
		}
	}
}

func natted(nat string) string { return strings.Replace(between, "NAT", nat, 1) }

// TestTransparent has functions prove packets that are not for them.
func TestTransparent(t *testing.T) {
	nstest.Require(t, feature.Bridge)
	p := up(t, "functions:\n- {name: a, kind: bridge}\n- {name: b, kind: forward}\n- {name: c, kind: bridge}\n")
	for _, protocol := range protocols {
		if seen, err := proof.Check(context.Background(), path(p, protocol)); err != nil || len(seen) != 3 {
			t.Errorf("%s: %v, error %v", protocol, seen, err)
		}
		swapped := path(p, protocol)
		swapped.Functions[0], swapped.Functions[2] = swapped.Functions[2], swapped.Functions[0]
		refused(t, swapped, "not visit the functions in order")
	}
}
