package ruleset

import (
	"fmt"
	"net/netip"

	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// seed of the hash of sources: given, so that all rules have the same.
const seed = 1

// Where nf_tables has the second of its registers of 16 bytes, and what follows an
// IPv4 or IPv6 address in it.
const (
	secondRegister        = 2
	afterIPv4, afterIPv6  = 13, 16
	sourceAt4, sourceAt6  = 12, 8
	sizeOfIPv4, sizeOfIP6 = 4, 16
	sizeOfPort            = 2
)

// shareExprs part packets out, in turn or by their source.
func (r Rule) shareExprs() []expr.Any {
	var e []expr.Any
	if r.OneIn > 0 {
		e = append(e, &expr.Numgen{Register: 1, Modulus: r.OneIn, Type: unix.NFT_NG_INCREMENTAL}, equal(make([]byte, 4)))
	}
	if r.Share.Of > 0 {
		address := &expr.Payload{DestRegister: secondRegister, Base: expr.PayloadBaseNetworkHeader, Offset: sourceAt4, Len: sizeOfIPv4}
		port := &expr.Payload{DestRegister: afterIPv4, Base: expr.PayloadBaseTransportHeader, Len: sizeOfPort}
		length := uint32(sizeOfIPv4 + 4) // each begins at a multiple of 4 bytes
		if r.family() == 6 {
			address.Offset, address.Len, port.DestRegister, length = sourceAt6, sizeOfIP6, afterIPv6, sizeOfIP6+4
		}
		e = append(e, address, port,
			&expr.Hash{SourceRegister: secondRegister, DestRegister: 1, Length: length, Modulus: r.Share.Of, Seed: seed, Type: expr.HashTypeJenkins},
			equal(binaryutil.NativeEndian.PutUint32(r.Share.Part)))
	}
	return e
}

func (r Rule) shareText() []string {
	var w []string
	if r.OneIn > 0 {
		w = append(w, "numgen", "inc", "mod", fmt.Sprint(r.OneIn), "0")
	}
	if r.Share.Of > 0 {
		ip := map[int]string{4: "ip", 6: "ip6"}[r.family()]
		w = append(w, "jhash", ip, "saddr", ".", "th", "sport", "mod", fmt.Sprint(r.Share.Of), "seed", fmt.Sprint(seed), fmt.Sprint(r.Share.Part))
	}
	return w
}

func (t *Translation) exprs() []expr.Any {
	if t == nil {
		return nil
	}
	if t.Kind == Masquerade {
		return []expr.Any{&expr.Masq{}}
	}
	nat := &expr.NAT{Type: expr.NATTypeSourceNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: 1}
	if t.Kind == Destination {
		nat.Type = expr.NATTypeDestNAT
	}
	if t.Address.Is6() {
		nat.Family = unix.NFPROTO_IPV6
	}
	e := []expr.Any{&expr.Immediate{Register: 1, Data: t.Address.AsSlice()}}
	if t.Port != 0 {
		nat.RegProtoMin, nat.Specified = secondRegister, true
		e = append(e, &expr.Immediate{Register: secondRegister, Data: binaryutil.BigEndian.PutUint16(t.Port)})
	}
	return append(e, nat)
}

func (t *Translation) nft() []string {
	if t == nil {
		return nil
	}
	if t.Kind == Masquerade {
		return []string{"masquerade"}
	}
	family := map[bool]string{true: "ip", false: "ip6"}[t.Address.Is4()]
	to := t.Address.String()
	if t.Port != 0 {
		to = netip.AddrPortFrom(t.Address, t.Port).String()
	}
	return []string{map[string]string{Source: "snat", Destination: "dnat"}[t.Kind], family, "to", to}
}
