package ruleset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// TablePrefix begins the name of every table that is ours; the rest is the owner.
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
	found, err := readNFT(p)
	if err != nil {
		return nil, err
	}
	old, err := readIPTables(p)
	return append(found, old...), err
}

func readNFT(p resource.Place) ([]resource.Observed, error) {
	conn, err := connect(p)
	if err != nil {
		return nil, err
	}
	chains, err := conn.ListChainsOfTableFamily(nftables.TableFamilyINet)
	if err != nil {
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPROTONOSUPPORT) {
			return nil, nil // no nf_tables in this kernel, so no tables
		}
		return nil, fmt.Errorf("list nf_tables of namespace %q: %w", p.Ref, err)
	}
	content := map[string]string{}
	hooked := map[string]*nftables.Chain{}
	for _, c := range chains {
		if !strings.HasPrefix(c.Table.Name, TablePrefix) {
			continue
		}
		if digest, ok := strings.CutPrefix(c.Name, "content-"); ok {
			content[c.Table.Name] = digest
		} else {
			hooked[c.Table.Name] = c
		}
	}
	var found []resource.Observed
	for table, c := range hooked {
		rules, err := conn.GetRules(c.Table, c)
		if err != nil {
			return nil, err
		}
		key := Spec{Backend: NFTables, Table: table, Hook: c.Name}.Key()
		found = append(found, resource.Observed{Key: key, Fingerprint: fmt.Sprintf("%s rules=%d", content[table], len(rules))})
	}
	return found, nil
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
	table, hook, _ := strings.Cut(rest, "/")
	if c.Op == resource.Delete {
		if backend == IPTables {
			return deleteIPTables(p, hook)
		}
		return deleteNFT(p, table)
	}
	s := c.Spec.(Spec)
	if s.Accounting {
		if err := p.Do(func() error { return os.WriteFile(accountingPath, []byte("1"), 0) }); err != nil {
			return fmt.Errorf("have connection tracking count bytes: %w", err)
		}
	}
	if backend == IPTables {
		return applyIPTables(p, s)
	}
	return applyNFT(p, s)
}

func applyIPTables(p resource.Place, s Spec) error {
	if err := deleteIPTables(p, s.Hook); err != nil {
		return err
	}
	for _, family := range []int{4, 6} {
		if _, err := run(p.Ref, s.iptables(family), restoreTool(family), "--noflush"); err != nil {
			return err
		}
	}
	return nil
}

// deleteIPTables empties the filter table, which is the function's own.
func deleteIPTables(p resource.Place, hook string) error {
	empty := "*filter\n:" + strings.ToUpper(hook) + " ACCEPT [0:0]\nCOMMIT\n"
	for _, family := range []int{4, 6} {
		if _, err := run(p.Ref, empty, restoreTool(family)); err != nil {
			return err
		}
	}
	return nil
}

// readIPTables looks only where the kernel already has iptables tables, so that
// looking does not make them; namespaces without iptables cost two file reads.
func readIPTables(p resource.Place) ([]resource.Observed, error) {
	digests, rows, hook := map[string]bool{}, 0, ""
	for _, family := range []int{4, 6} {
		if !hasFilterTable(p, family) {
			continue
		}
		out, err := run(p.Ref, "", saveTool(family), "-t", "filter")
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(out, "\n") {
			f := strings.Fields(line)
			switch {
			case len(f) >= 4 && f[0] == "-A" && f[2] == "-j" && strings.HasPrefix(f[3], "nfchain-"):
				hook = strings.ToLower(f[1])
				digests[strings.TrimPrefix(f[3], "nfchain-")] = true
			case len(f) >= 2 && f[0] == "-A" && strings.HasPrefix(f[1], "nfchain-"):
				rows++
			}
		}
	}
	if hook == "" {
		return nil, nil
	}
	digest := "mixed"
	if len(digests) == 1 {
		for d := range digests {
			digest = d
		}
	}
	key := Spec{Backend: IPTables, Table: TablePrefix, Hook: hook}.Key()
	return []resource.Observed{{Key: key, Fingerprint: fmt.Sprintf("%s rules=%d", digest, rows)}}, nil
}

// hasFilterTable tells whether a legacy filter table or an nf_tables one made by
// iptables is there.
func hasFilterTable(p resource.Place, family int) bool {
	file, nf := "/proc/thread-self/net/ip_tables_names", nftables.TableFamilyIPv4
	if family == 6 {
		file, nf = "/proc/thread-self/net/ip6_tables_names", nftables.TableFamilyIPv6
	}
	found := false
	_ = p.Do(func() error {
		names, err := os.ReadFile(file)
		found = err == nil && strings.Contains(string(names), "filter")
		return nil
	})
	if found {
		return true
	}
	conn, err := connect(p)
	if err != nil {
		return false
	}
	tables, err := conn.ListTablesOfFamily(nf)
	for _, t := range tables {
		found = found || t.Name == "filter"
	}
	return err == nil && found
}

// run starts a program in the namespace; a failure carries what it printed. The
// lock that iptables takes is one file of the host for all namespaces; each call
// gets one of its own instead, since nothing else works in the namespace.
func run(ref, input string, args ...string) (string, error) {
	lock, err := os.CreateTemp("", "nfchain-xtables-")
	if err != nil {
		return "", err
	}
	lock.Close()
	defer os.Remove(lock.Name())
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "XTABLES_LOCKFILE="+lock.Name())
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &complaint
	if err := netns.Start(ref, cmd); err != nil {
		return "", fmt.Errorf("start %s: %w", args[0], err)
	}
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", args[0], err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// Counters reads what the counted rules of a rule set have counted.
func Counters(p resource.Place, s Spec) ([]Counter, error) {
	if s.Backend == IPTables {
		return iptablesCounters(p, s)
	}
	conn, err := connect(p)
	if err != nil {
		return nil, err
	}
	table := &nftables.Table{Family: nftables.TableFamilyINet, Name: s.Table}
	rules, err := conn.GetRules(table, &nftables.Chain{Name: s.Hook, Table: table})
	if err != nil {
		return nil, fmt.Errorf("read counters of namespace %q: %w", p.Ref, err)
	}
	counters := []Counter{}
	for i, r := range rules {
		text, _ := userdata.GetString(r.UserData, userdata.TypeComment)
		for _, e := range r.Exprs {
			if c, ok := e.(*expr.Counter); ok {
				counters = append(counters, Counter{Rule: i + 1, Comment: text, Packets: c.Packets, Bytes: c.Bytes})
			}
		}
	}
	return counters, nil
}

// iptablesCounters adds both families' counters of each rule.
func iptablesCounters(p resource.Place, s Spec) ([]Counter, error) {
	counters := make([]Counter, len(s.Rules))
	for i, r := range s.Rules {
		counters[i] = Counter{Rule: i + 1, Comment: r.Comment}
	}
	for _, family := range []int{4, 6} {
		out, err := run(p.Ref, "", saveTool(family), "-c", "-t", "filter")
		if err != nil {
			return nil, err
		}
		next := 0
		for _, line := range strings.Split(out, "\n") {
			f := strings.Fields(line)
			if len(f) < 3 || f[1] != "-A" || f[2] != s.iptablesChain() {
				continue
			}
			for next < len(s.Rules) && !s.Rules[next].appliesTo(family) {
				next++
			}
			var packets, bytes uint64
			if _, err := fmt.Sscanf(f[0], "[%d:%d]", &packets, &bytes); err == nil && next < len(counters) {
				counters[next].Packets += packets
				counters[next].Bytes += bytes
			}
			next++
		}
	}
	return counters, nil
}
