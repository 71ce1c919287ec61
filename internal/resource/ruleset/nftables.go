package ruleset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// connect asks for a socket first: the library that opens its own in a namespace gives none, and no
// error, where the kernel has no netlink of netfilter's.
func connect(p resource.Place, options ...nftables.ConnOption) (*nftables.Conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket of netfilter's (CONFIG_NETFILTER_NETLINK): %w", err)
	}
	_ = unix.Close(fd)
	if !p.Keeps() { // else the thread is there already
		options = append(options, nftables.WithNetNSFd(p.FD()))
	}
	return nftables.New(options...)
}

// A transaction's rules and their acknowledgements must fit the socket's buffers.
// Without the privilege to widen them, as many rules as fit are sent at a time.
const (
	bytesPerRule = 1024
	fits         = 500
)

func wide(rules int) nftables.ConnOption {
	return nftables.WithSockOptions(func(c *netlink.Conn) error {
		return errors.Join(c.SetWriteBuffer((rules+fits)*bytesPerRule), c.SetReadBuffer((rules+fits)*bytesPerRule))
	})
}

var hooks = map[string]*nftables.ChainHook{
	"prerouting": nftables.ChainHookPrerouting, "input": nftables.ChainHookInput,
	"forward": nftables.ChainHookForward, "output": nftables.ChainHookOutput,
	"postrouting": nftables.ChainHookPostrouting,
}

// applyNFT replaces the table in one transaction, or in several where it does not
// fit one. The mark of its content comes last, so that what a killed process left
// is never taken for complete.
func applyNFT(p resource.Place, s Spec) error {
	err := s.send(p, max(len(s.Rules), 1))
	if errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.EMSGSIZE) {
		err = s.send(p, fits)
	}
	return err
}

func (s Spec) send(p resource.Place, batch int) error {
	conn, err := connect(p, wide(len(s.Rules)))
	if err != nil {
		return err
	}
	table := &nftables.Table{Family: nftables.TableFamilyINet, Name: s.Table}
	conn.AddTable(table)
	conn.DelTable(table)
	conn.AddTable(table)
	chain := s.chains(conn, table)
	for i, r := range s.Rules {
		if i > 0 && i%batch == 0 {
			if err := conn.Flush(); err != nil {
				return err
			}
		}
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: r.exprs(), UserData: comment(r.Comment)})
	}
	if s.countsPolicy() {
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{&expr.Counter{}}})
	}
	conn.AddChain(&nftables.Chain{Name: s.markChain(), Table: table})
	return conn.Flush()
}

// chains makes those that the rules and hooks need, and gives the one for the rules.
func (s Spec) chains(conn *nftables.Conn, table *nftables.Table) *nftables.Chain {
	if !s.jumps() {
		return conn.AddChain(s.base(table, s.Hook))
	}
	rules := conn.AddChain(&nftables.Chain{Name: s.rulesChain(), Table: table})
	for _, hook := range s.hooks() {
		chain := conn.AddChain(s.base(table, hook))
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{&expr.Verdict{Kind: expr.VerdictJump, Chain: rules.Name}}})
	}
	return rules
}

// base is the chain of a hook.
func (s Spec) base(table *nftables.Table, hook string) *nftables.Chain {
	policy := nftables.ChainPolicyAccept
	if s.Policy == "drop" {
		policy = nftables.ChainPolicyDrop
	}
	kind := nftables.ChainTypeFilter
	if s.Translates {
		kind = nftables.ChainTypeNAT
	}
	return &nftables.Chain{
		Name: hook, Table: table, Type: kind, Hooknum: hooks[hook],
		Priority: nftables.ChainPriorityRef(nftables.ChainPriority(s.Priority)), Policy: &policy,
	}
}

// readNFT finds our tables among those that there are.
func readNFT(conn *nftables.Conn, tables []*nftables.Table) ([]resource.Observed, error) {
	ours := func(t *nftables.Table) bool {
		return t.Family == nftables.TableFamilyINet && strings.HasPrefix(t.Name, TablePrefix)
	}
	if !slices.ContainsFunc(tables, ours) {
		return nil, nil
	}
	chains, err := conn.ListChainsOfTableFamily(nftables.TableFamilyINet)
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, t := range tables {
		if !ours(t) {
			continue
		}
		table, err := readTable(conn, t, chains)
		if err != nil {
			return nil, err
		}
		if len(table.hooks) > 0 {
			found = append(found, table.observed(NFTables, t.Name))
		}
	}
	return found, nil
}

// held is what one table was found to hold.
type held struct {
	// hooks with their policies.
	hooks   map[string]string
	content string
	rows    int
}

func (h held) observed(backend, table string) resource.Observed {
	var hooks, policies []string
	for _, hook := range inOrder {
		if policy, has := h.hooks[hook]; has {
			hooks, policies = append(hooks, hook), append(policies, policy)
		}
	}
	return resource.Observed{Key: key(backend, table, hooks), Fingerprint: fingerprint(same(policies), h.content, h.rows)}
}

// same is what all are.
func same(of []string) string {
	if len(slices.Compact(slices.Clone(of))) != 1 {
		return "mixed"
	}
	return of[0]
}

// readTable reads the chains of one table.
func readTable(conn *nftables.Conn, t *nftables.Table, chains []*nftables.Chain) (held, error) {
	h := held{hooks: map[string]string{}}
	for _, c := range chains {
		if c.Table.Name != t.Name {
			continue
		}
		if digest, ok := strings.CutPrefix(c.Name, contentPrefix); ok {
			h.content = digest
			continue
		}
		rules, err := conn.GetRules(c.Table, c)
		if err != nil {
			return h, err
		}
		h.rows += len(rules)
		if c.Hooknum == nil {
			continue
		}
		h.hooks[c.Name] = "accept"
		if c.Policy != nil && *c.Policy == nftables.ChainPolicyDrop {
			h.hooks[c.Name] = "drop"
		}
	}
	return h, nil
}

func comment(text string) []byte {
	if text == "" {
		return nil
	}
	return userdata.AppendString(nil, userdata.TypeComment, text)
}

func deleteNFT(p resource.Place, table string) error {
	conn, err := connect(p)
	if err != nil {
		return err
	}
	t := &nftables.Table{Family: nftables.TableFamilyINet, Name: table}
	conn.AddTable(t) // so that deleting what is gone succeeds
	conn.DelTable(t)
	return conn.Flush()
}

// exprs is the rule as nf_tables expressions, in the order that text.go writes.
func (r Rule) exprs() []expr.Any {
	var e []expr.Any
	if f := r.family(); f != 0 {
		proto := byte(unix.NFPROTO_IPV4)
		if f == 6 {
			proto = unix.NFPROTO_IPV6
		}
		e = append(e, meta(expr.MetaKeyNFPROTO), equal([]byte{proto}))
	}
	if r.InputDevice != "" {
		e = append(e, meta(expr.MetaKeyIIFNAME), equal(deviceName(r.InputDevice)))
	}
	if r.OutputDevice != "" {
		e = append(e, meta(expr.MetaKeyOIFNAME), equal(deviceName(r.OutputDevice)))
	}
	e = append(e, addressExprs(r.Source, 12, 8)...)
	e = append(e, addressExprs(r.Destination, 16, 24)...)
	if r.Protocol != "" {
		e = append(e, meta(expr.MetaKeyL4PROTO), equal([]byte{protocols[r.Protocol]}))
	}
	e = append(e, portExprs(r.SourcePorts, 0)...)
	e = append(e, portExprs(r.DestinationPorts, 2)...)
	e = append(e, r.connectionExprs()...)
	e = append(e, r.shareExprs()...)
	return append(e, r.actions()...)
}

func deviceName(name string) []byte {
	b := make([]byte, unix.IFNAMSIZ)
	copy(b, name)
	return b
}

var protocols = map[string]byte{
	"tcp": unix.IPPROTO_TCP, "udp": unix.IPPROTO_UDP, "icmp": unix.IPPROTO_ICMP,
	"icmpv6": unix.IPPROTO_ICMPV6, "sctp": unix.IPPROTO_SCTP,
}

func meta(key expr.MetaKey) expr.Any { return &expr.Meta{Key: key, Register: 1} }

func equal(data []byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: data} }

// addressExprs compares a prefix with the address at the offset of its family.
func addressExprs(p netip.Prefix, offset4, offset6 uint32) []expr.Any {
	if !p.IsValid() {
		return nil
	}
	offset := offset4
	if p.Addr().Is6() {
		offset = offset6
	}
	length := uint32(p.Addr().BitLen() / 8)
	e := []expr.Any{&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: length}}
	if !p.IsSingleIP() {
		mask := make([]byte, length)
		for i := 0; i < p.Bits(); i++ {
			mask[i/8] |= 0x80 >> (i % 8)
		}
		e = append(e, &expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: length, Mask: mask, Xor: make([]byte, length)})
	}
	return append(e, equal(p.Masked().Addr().AsSlice()))
}

func portExprs(p Ports, offset uint32) []expr.Any {
	if p == (Ports{}) {
		return nil
	}
	load := &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: 2}
	first, last := binaryutil.BigEndian.PutUint16(p.First), binaryutil.BigEndian.PutUint16(p.Last)
	if p.First == p.Last {
		return []expr.Any{load, equal(first)}
	}
	return []expr.Any{load, &expr.Range{Op: expr.CmpOpEq, Register: 1, FromData: first, ToData: last}}
}

var states = map[string]uint32{
	"invalid": expr.CtStateBitINVALID, "established": expr.CtStateBitESTABLISHED,
	"related": expr.CtStateBitRELATED, "new": expr.CtStateBitNEW,
}

func (r Rule) connectionExprs() []expr.Any {
	var e []expr.Any
	if len(r.States) > 0 {
		var bits uint32
		for _, s := range r.States {
			bits |= states[strings.ToLower(s)]
		}
		e = append(e, &expr.Ct{Key: expr.CtKeySTATE, Register: 1},
			&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: binaryutil.NativeEndian.PutUint32(bits), Xor: make([]byte, 4)},
			&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: make([]byte, 4)})
	}
	if r.ConnectionBytes > 0 {
		least := make([]byte, 8)
		binary.BigEndian.PutUint64(least, r.ConnectionBytes)
		e = append(e, &expr.Ct{Key: expr.CtKeyBYTES, Register: 1},
			&expr.Byteorder{SourceRegister: 1, DestRegister: 1, Op: expr.ByteorderHton, Len: 8, Size: 8},
			&expr.Cmp{Op: expr.CmpOpGte, Register: 1, Data: least})
	}
	return e
}

func (r Rule) actions() []expr.Any {
	var e []expr.Any
	if r.Counted {
		e = append(e, &expr.Counter{})
	}
	if r.Class != 0 {
		e = append(e, &expr.Immediate{Register: 1, Data: binaryutil.NativeEndian.PutUint32(r.Class)},
			&expr.Meta{Key: expr.MetaKeyPRIORITY, SourceRegister: true, Register: 1})
	}
	if r.HopLimit != 0 {
		e = append(e, r.hopLimitExprs()...)
	}
	e = append(e, r.Translate.exprs()...)
	switch r.Verdict {
	case "accept":
		e = append(e, &expr.Verdict{Kind: expr.VerdictAccept})
	case "drop":
		e = append(e, &expr.Verdict{Kind: expr.VerdictDrop})
	}
	return e
}

// hopLimitExprs rewrites the byte that holds the limit: offset 8 of an IPv4
// header (RFC 791 §3.1), whose checksum is mended, or 7 of an IPv6 one (RFC 8200
// §3). The kernel writes payloads of even length at even offsets when it mends a
// checksum, so the IPv4 limit is written together with the protocol that follows.
func (r Rule) hopLimitExprs() []expr.Any {
	offset, kind, sum := uint32(8), expr.CsumTypeInet, uint32(10)
	if r.Family == 6 {
		offset, kind, sum = 6, expr.CsumTypeNone, 0
	}
	mask, value := []byte{0x00, 0xff}, []byte{r.HopLimit, 0}
	if r.Family == 6 {
		mask, value = []byte{0xff, 0x00}, []byte{0, r.HopLimit}
	}
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: 2},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 2, Mask: mask, Xor: value},
		&expr.Payload{OperationType: expr.PayloadWrite, SourceRegister: 1, Base: expr.PayloadBaseNetworkHeader,
			Offset: offset, Len: 2, CsumType: kind, CsumOffset: sum},
	}
}
