package plugin

import (
	"net"
	"net/netip"
	"slices"

	"github.com/containernetworking/cni/pkg/types"
	cni "github.com/containernetworking/cni/pkg/types/100"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/route"
)

// result is what a container has of its chain: interfaces, addresses and routes.
func result(p *plan.Plan, b deploy.Brought, mtu int) *cni.Result {
	r := &cni.Result{CNIVersion: cni.ImplementedSpecVersion}
	at := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == b.Node })
	if at < 0 {
		return r
	}
	n, index := p.Nodes[at], map[string]int{}
	for _, i := range []*plan.Interface{n.West, n.East} {
		if i == nil {
			continue
		}
		if _, both := index[i.Device]; !both {
			index[i.Device] = len(r.Interfaces)
			r.Interfaces = append(r.Interfaces, &cni.Interface{Name: i.Device, Mac: i.MAC, Mtu: mtu, Sandbox: b.Netns})
		}
	}
	for _, made := range p.Resources {
		if made.Namespace != n.Namespace {
			continue
		}
		switch s := made.Spec.(type) {
		case address.Spec:
			if i, is := index[s.Device]; is {
				whole := netip.PrefixFrom(s.Address, s.Address.BitLen())
				r.IPs = append(r.IPs, &cni.IPConfig{Interface: cni.Int(i), Address: network(whole)})
			}
		case route.Spec:
			r.Routes = append(r.Routes, &types.Route{Dst: network(s.Destination), GW: net.IP(s.Via.AsSlice())})
		}
	}
	return r
}

func network(p netip.Prefix) net.IPNet {
	return net.IPNet{IP: net.IP(p.Addr().AsSlice()), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// behind is a result with what the plugins before gave.
func behind(before, r *cni.Result) *cni.Result {
	first := len(before.Interfaces)
	before.Interfaces = append(before.Interfaces, r.Interfaces...)
	for _, ip := range r.IPs {
		ip.Interface = cni.Int(*ip.Interface + first)
		before.IPs = append(before.IPs, ip)
	}
	before.Routes = append(before.Routes, r.Routes...)
	return before
}

// before is the result of the plugins before; nil where there were none.
func (c call) before() (*cni.Result, error) {
	if c.PrevResult == nil {
		return nil, nil
	}
	r, err := cni.NewResultFromResult(c.PrevResult)
	if err != nil {
		return nil, types.NewError(types.ErrDecodingFailure, "prevResult: "+err.Error(), "")
	}
	return r, nil
}

// print a result as the version of the configuration has it, behind that of the plugins before.
func (c call) print(before, r *cni.Result) error {
	if before != nil {
		r = behind(before, r)
	}
	return types.PrintResult(r, c.CNIVersion)
}
