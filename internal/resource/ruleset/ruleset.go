package ruleset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// TablePrefix begins the name of every nf_tables table that is ours.
const TablePrefix = "nfchain"

// Kind makes rule sets.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind. Rule sets are made only in namespaces that are
// the owner's own; in others there is nothing of his to be found.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	if !namespace.Owns(p.Owner, p.Ref) {
		return nil, nil
	}
	conn, tables, err := listTables(p)
	if err != nil {
		return nil, fmt.Errorf("list nf_tables of namespace %q: %w", p.Ref, err)
	}
	found, err := readNFT(conn, tables)
	if err != nil {
		return nil, fmt.Errorf("read rule sets of namespace %q: %w", p.Ref, err)
	}
	old, err := readIPTables(p, tables)
	return append(found, old...), err
}

// listTables of a namespace. A kernel that lacks nf_tables, which netfilter's netlink answers
// by EINVAL, has none.
func listTables(p resource.Place) (conn *nftables.Conn, tables []*nftables.Table, err error) {
	if conn, err = connect(p); err == nil {
		tables, err = conn.ListTables()
	}
	for _, lacks := range []error{unix.EOPNOTSUPP, unix.EPROTONOSUPPORT, unix.EINVAL} {
		if errors.Is(err, lacks) {
			return conn, nil, nil
		}
	}
	return conn, tables, err
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		if err := apply(p, c); err != nil {
			return fmt.Errorf("rule set %s of namespace %q: %w", c.Key, p.Ref, err)
		}
	}
	return nil
}

func apply(p resource.Place, c resource.Change) error {
	backend, rest, _ := strings.Cut(c.Key, "/")
	table, _, _ := strings.Cut(rest, "/")
	if c.Op == resource.Delete {
		if backend == IPTables {
			return deleteIPTables(p)
		}
		return deleteNFT(p, table)
	}
	s := c.Spec.(Spec)
	if backend == IPTables {
		return applyIPTables(p, s)
	}
	return applyNFT(p, s)
}

// Count reads what the counted rules of a rule set have counted, and its policy.
func Count(p resource.Place, s Spec) (Counters, error) {
	count := nftCounters
	if s.Backend == IPTables {
		count = iptablesCounters
	}
	c, err := count(p, s)
	for i, r := range c.Rules {
		if r.Rule <= len(s.Rules) { // somebody may have added some
			c.Rules[i].Text, c.Rules[i].Verdict = s.Rules[r.Rule-1].Text(), s.Rules[r.Rule-1].Verdict
		}
	}
	return c, err
}

func nftCounters(p resource.Place, s Spec) (Counters, error) {
	c := Counters{Rules: []Counter{}}
	conn, err := connect(p)
	if err != nil {
		return c, err
	}
	table := &nftables.Table{Family: nftables.TableFamilyINet, Name: s.Table}
	rules, err := conn.GetRules(table, &nftables.Chain{Name: s.rulesChain(), Table: table})
	if err != nil {
		return c, fmt.Errorf("read counters of namespace %q: %w", p.Ref, err)
	}
	for i, r := range rules {
		text, _ := userdata.GetString(r.UserData, userdata.TypeComment)
		for _, e := range r.Exprs {
			n, ok := e.(*expr.Counter)
			switch {
			case !ok:
			case s.countsPolicy() && i == len(s.Rules):
				c.Dropped = &Dropped{n.Packets, n.Bytes}
			default:
				c.Rules = append(c.Rules, Counter{Rule: i + 1, Comment: text, Packets: n.Packets, Bytes: n.Bytes})
			}
		}
	}
	return c, nil
}
