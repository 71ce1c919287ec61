package ruleset

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// The filter table of a namespace belongs to the function, so restoring replaces
// all of it.
func applyIPTables(p resource.Place, s Spec) error {
	for _, family := range families {
		if _, err := run(p.Ref, s.iptables(family), restoreTool(family)); err != nil {
			return err
		}
	}
	return nil
}

// deleteIPTables empties the filter table; it cannot be removed.
func deleteIPTables(p resource.Place) error {
	const empty = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
	for _, family := range families {
		if _, err := run(p.Ref, empty, restoreTool(family)); err != nil {
			return err
		}
	}
	return nil
}

var families = []int{4, 6}

// readIPTables looks only where the kernel already has iptables tables, so that
// looking neither makes them nor needs the tools.
func readIPTables(p resource.Place, tables []*nftables.Table) ([]resource.Observed, error) {
	var all []held
	rows := 0
	for _, family := range filterTables(p, tables) {
		out, err := run(p.Ref, "", saveTool(family), "-t", "filter")
		if err != nil {
			return nil, err
		}
		h := parseIPTables(out)
		rows += h.rows
		if len(h.hooks) > 0 {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	found := all[0]
	if len(all) != len(families) || all[0].content != all[1].content || !maps.Equal(all[0].hooks, all[1].hooks) {
		found.content = "mixed"
	}
	found.rows = rows
	return []resource.Observed{found.observed(IPTables, TablePrefix)}, nil
}

// parseIPTables reads what iptables-save printed of one family.
func parseIPTables(saved string) held {
	h := held{hooks: map[string]string{}}
	policy := map[string]string{}
	for _, line := range strings.Split(saved, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) >= 2 && strings.HasPrefix(f[0], ":"):
			policy[f[0][1:]] = strings.ToLower(f[1])
		case len(f) >= 4 && f[0] == "-A" && f[2] == "-j" && strings.HasPrefix(f[3], chainPrefix):
			h.hooks[strings.ToLower(f[1])] = policy[f[1]]
			h.content = strings.TrimPrefix(f[3], chainPrefix)
		case len(f) >= 2 && f[0] == "-A": // ours, and what others put beside them
			h.rows++
		}
	}
	return h
}

// filterTables lists the families that have a filter table, a legacy one or an
// nf_tables one made by iptables.
func filterTables(p resource.Place, tables []*nftables.Table) []int {
	var found []int
	for _, t := range tables {
		if t.Name != "filter" {
			continue
		}
		switch t.Family {
		case nftables.TableFamilyIPv4:
			found = append(found, 4)
		case nftables.TableFamilyIPv6:
			found = append(found, 6)
		}
	}
	_ = p.Do(func() error {
		for family, file := range map[int]string{4: "ip_tables_names", 6: "ip6_tables_names"} {
			names, err := os.ReadFile("/proc/thread-self/net/" + file)
			if err == nil && bytes.Contains(names, []byte("filter")) {
				found = append(found, family)
			}
		}
		return nil
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// run starts a program in the namespace; a failure carries what it printed. The
// lock that iptables takes is one file of the host for all namespaces; each call
// gets one of its own instead, since nothing else works in the namespace. It has no
// name, so that nothing is left of a call that is killed.
func run(ref, input string, args ...string) (string, error) {
	fd, err := unix.MemfdCreate("lock of iptables", unix.MFD_CLOEXEC)
	if err != nil {
		return "", fmt.Errorf("no place for the lock of %s: %w", args[0], err)
	}
	lock := os.NewFile(uintptr(fd), "lock of iptables")
	defer func() { _ = lock.Close() }()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.ExtraFiles = []*os.File{lock} // the first is descriptor 3
	cmd.Env = append(os.Environ(), "XTABLES_LOCKFILE=/proc/self/fd/3")
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

// iptablesCounters adds both families' counters of each rule, and of the policy.
func iptablesCounters(p resource.Place, s Spec) (Counters, error) {
	c := Counters{Rules: make([]Counter, len(s.Rules))}
	for i, r := range s.Rules {
		c.Rules[i] = Counter{Rule: i + 1, Comment: r.Comment}
	}
	if s.Policy == "drop" {
		c.Dropped = &Dropped{}
	}
	for _, family := range families {
		out, err := run(p.Ref, "", saveTool(family), "-c", "-t", "filter")
		if err != nil {
			return c, err
		}
		c.addIPTables(s, family, out)
	}
	return c, nil
}

// addIPTables adds what iptables-save -c printed of one family.
func (c *Counters) addIPTables(s Spec, family int, out string) {
	chain, next := s.iptablesChain(), 0
	for _, line := range strings.Split(out, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		if hook := strings.TrimPrefix(strings.ToLower(f[0]), ":"); c.Dropped != nil && slices.Contains(s.hooks(), hook) {
			packets, bytes := counts(f[2])
			c.Dropped.Packets += packets
			c.Dropped.Bytes += bytes
		}
		if f[1] != "-A" || f[2] != chain {
			continue
		}
		for next < len(s.Rules) && !s.Rules[next].appliesTo(family) {
			next++
		}
		if next < len(c.Rules) {
			packets, bytes := counts(f[0])
			c.Rules[next].Packets += packets
			c.Rules[next].Bytes += bytes
		}
		next++
	}
}

// counts reads "[packets:bytes]"; zero where there are none.
func counts(text string) (packets, bytes uint64) {
	if n, err := fmt.Sscanf(text, "[%d:%d]", &packets, &bytes); err != nil || n != 2 {
		return 0, 0
	}
	return packets, bytes
}
