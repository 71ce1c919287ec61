package deploy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/nstest/hosttest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// network describes all of a namespace's configuration.
const network = `ip -d addr; ip -d -4 route show table all; ip -d -6 route show table all; ip rule; ip -6 rule; ip neigh;
	tc qdisc; nft list ruleset; grep -rs . /proc/sys/net --exclude=flush --exclude=stable_secret | sort`

// TestExistingNamespaces are as they were after a chain has used them as its ends.
func TestExistingNamespaces(t *testing.T) {
	needs(t)
	hosttest.Looks(t)
	left, right := nstest.Namespace(t), nstest.Namespace(t)
	sh(t, strings.NewReplacer("$left", left, "$right", right).Replace(`
		ip -n $left link add eth0 type veth peer name eth1 netns $right
		ip -n $left address add 192.0.2.1/24 dev eth0; ip -n $left link set eth0 up
		ip -n $right address add 192.0.2.2/24 dev eth1; ip -n $right link set eth1 up; ip -n $right link set lo up
		ip -n $left route add 203.0.113.0/24 via 192.0.2.2 proto 78
		ip -n $left neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev eth0 nud permanent
		ip netns exec $left nft add table inet nfchain-firewall
		ip netns exec $left nft add table inet other`))
	look := func(ns string) string {
		return sh(t, "ip netns exec "+ns+" sh -c '"+strings.ReplaceAll(network, "'", `"`)+"'")
	}
	steady(t, left, right)
	before := look(left) + look(right)
	owner := nstest.Owner(t)
	p := planned(t, owner, "endpoints: [{name: l, namespace: "+left+"}, {name: r, namespace: "+right+"}]\n"+spec(firewall, shaper))
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	sh(t, "ip -n "+left+" neigh | grep 192.0.2.9") // others' entries stay while the chain is up
	down(t, owner)
	if after := look(left) + look(right); after != before {
		t.Errorf("the namespaces differ:\n%s", difference(before, after))
	}
	// Again with an end that becomes the chain's own meanwhile.
	up(t, p)
	q := planned(t, owner, "endpoints: [{name: l}, {name: r, namespace: "+right+"}]\n"+spec(firewall, shaper))
	up(t, q)
	unchanged(t, q)
	crosses(t, q)
	down(t, owner)
	if after := look(left) + look(right); after != before {
		t.Errorf("the namespaces differ:\n%s", difference(before, after))
	}
}

// steady waits until addresses are no longer tentative.
func steady(t *testing.T, names ...string) {
	t.Helper()
	for _, ns := range names {
		sh(t, "for i in $(seq 100); do ip -n "+ns+" addr | grep -q tentative || exit 0; sleep 0.1; done; exit 1")
	}
}

// difference is the lines that only one of two texts has.
func difference(before, after string) string {
	has := map[string]int{}
	for _, l := range strings.Split(before, "\n") {
		has[l]++
	}
	var b strings.Builder
	for _, l := range strings.Split(after, "\n") {
		if has[l]--; has[l] < 0 {
			fmt.Fprintln(&b, "+", l)
		}
	}
	for l, n := range has {
		if n > 0 {
			fmt.Fprintln(&b, "-", l)
		}
	}
	return b.String()
}

// TestChainsAtOnce brings chains up and down beside each other.
func TestChainsAtOnce(t *testing.T) {
	needs(t)
	var plans []*plan.Plan
	for range 4 {
		// One after the other they choose addresses, as commands do under a lock.
		p := planned(t, nstest.Owner(t), spec(forward("a"), firewall, iptables, shaper))
		up(t, p)
		downAfter(t, p.Chain)
		plans = append(plans, p)
	}
	var wg sync.WaitGroup
	for _, p := range plans {
		wg.Add(1)
		go func() {
			defer wg.Done()
			d := &deploy.Deployer{}
			for range 3 {
				if _, err := d.Down(context.Background(), p.Chain); err != nil {
					t.Error(err)
				}
				if _, err := d.Up(context.Background(), p); err != nil {
					t.Error(err)
				}
				crosses(t, p)
				if changes, err := d.Up(context.Background(), p); err != nil || len(changes) > 0 {
					t.Error(changes, err)
				}
			}
		}()
	}
	wg.Wait()
	for i, p := range plans {
		for _, q := range plans[i+1:] {
			for j := range p.Blocks {
				if p.Blocks[j].Overlaps(q.Blocks[j]) {
					t.Errorf("%s and %s overlap", p.Blocks[j], q.Blocks[j])
				}
			}
		}
	}
}

// wide is a pool that has a block for a thousand nodes whatever other chains there are: a dozen small ones, as of other tests at the same
// time, may leave none of that size in the usual pool.
const wide = "addresses: {ipv4: 241.0.0.0/8}\n"

// TestThousand is a chain of a thousand functions: up, across both ways, down.
func TestThousand(t *testing.T) {
	needs(t)
	p := planned(t, nstest.Owner(t), wide+plantest.Forwards(1000))
	downAfter(t, p.Chain)
	up(t, p)
	crosses(t, p)
	unchanged(t, p)
	down(t, p.Chain)
	if names, err := deploy.Nodes(p.Chain); err != nil || len(names) > 0 {
		t.Error(len(names), "namespaces left", err)
	}
	settle(t, p.Chain)
}

// TestHostIsUntouched compares all that a host is configured with before and after
// a chain. It does so in network and mount namespaces that stand for a host which
// nobody else changes meanwhile.
func TestHostIsUntouched(t *testing.T) {
	needs(t)
	hosttest.Looks(t)
	if !nstest.Alone(t) {
		return
	}
	sh(t, `
		ip link add host0 type veth peer name host1; ip link set host0 up; ip link set host1 up
		ip address add 192.0.2.1/24 dev host0; ip route add 203.0.113.0/24 via 192.0.2.2; ip rule add from 192.0.2.7 table 7
		ip route add 198.18.0.0/16 dev host0 table 7
		nft add table inet other; iptables -A FORWARD -s 192.0.2.5 -j DROP; rm -f /run/xtables.lock
		for i in $(seq 100); do ip addr | grep -q tentative || break; sleep 0.1; done`)
	// Left out is what counts or follows what the rest of the machine does: terminals, the
	// kernel's sampling rate, and the number of keys that every Docker daemon sets as it starts.
	look := func() string {
		return sh(t, network) + sh(t, "cat /proc/self/mountinfo; ls -lR /run; ls /proc/sys/net; sysctl kernel vm fs 2>/dev/null | grep -v 'random\\|_nr\\|-nr\\|-state\\|last_pid\\|free\\|lockdep\\|firmware\\|sched_domain\\|pty\\.nr\\|sample_rate\\|keys\\.root_max\\|fs\\.quota'")
	}
	before := look()
	p := planned(t, nstest.Owner(t), spec(forward("a"), firewall, iptables, shaper, classes))
	for _, block := range p.Blocks {
		if strings.HasPrefix(block.String(), "198.18.") {
			t.Error("a route of another table covers", block)
		}
	}
	up(t, p)
	crosses(t, p)
	down(t, p.Chain)
	settle(t, p.Chain)
	_ = os.Remove(filepath.Join("/run", "netns")) // settle's own
	if after := look(); after != before {
		t.Errorf("the host differs:\n%s", difference(before, after))
	}
}

// TestDownAfterOthersMount has ip-netns(8) mount its directory over itself, with the
// chain's namespaces in it.
func TestDownAfterOthersMount(t *testing.T) {
	needs(t)
	if !nstest.Alone(t) {
		return
	}
	before := sh(t, "cat /proc/self/mountinfo")
	p := planned(t, nstest.Owner(t), spec(forward("a"), firewall))
	up(t, p)
	sh(t, "ip netns add other")
	unchanged(t, p)
	crosses(t, p)
	down(t, p.Chain)
	if left := sh(t, "ls /run/netns /run"); strings.Contains(left, p.Chain) {
		t.Errorf("left: %s", left)
	}
	settle(t, p.Chain)
	sh(t, "ip netns delete other; umount /run/netns; rmdir /run/netns")
	if after := sh(t, "cat /proc/self/mountinfo"); after != before {
		t.Errorf("the mounts differ:\n%s", difference(before, after))
	}
}

// TestEndsMove between existing namespaces; nothing stays where they were.
func TestEndsMove(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	var ns [4]string
	var before [4]string
	for i := range ns {
		ns[i] = nstest.Namespace(t)
		sh(t, "ip -n "+ns[i]+" link set lo up")
		before[i] = sh(t, "ip -n "+ns[i]+" -br link; ip -n "+ns[i]+" route; ip -n "+ns[i]+" neigh")
	}
	for _, functions := range []string{spec(), spec(forward("a"))} {
		for _, ends := range [][2]int{{0, 1}, {0, 2}, {3, 2}, {2, 3}, {0, 1}} {
			p := planned(t, owner, fmt.Sprintf("endpoints: [{name: l, namespace: %s}, {name: r, namespace: %s}]\n%s", ns[ends[0]], ns[ends[1]], functions))
			up(t, p)
			crosses(t, p)
			unchanged(t, p)
			for i := range ns {
				now := sh(t, "ip -n "+ns[i]+" -br link; ip -n "+ns[i]+" route; ip -n "+ns[i]+" neigh")
				if i != ends[0] && i != ends[1] && now != before[i] {
					t.Errorf("ends at %v: namespace %d has %s", ends, i, now)
				}
			}
		}
	}
}

// TestLongNames has a chain and functions with the longest names there can be.
func TestLongNames(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	owner += strings.Repeat("x", 63-len(owner))
	downAfter(t, owner)
	p := planned(t, owner, spec(forward(strings.Repeat("a", 63)), forward(strings.Repeat("b", 63))))
	up(t, p)
	crosses(t, p)
	unchanged(t, p)
}

// TestFacts of chains that are up keep others' addresses apart, also of one that has
// no namespace of its own, and of what an existing namespace reaches.
func TestFacts(t *testing.T) {
	needs(t)
	left, right := nstest.Namespace(t), nstest.Namespace(t)
	guest := nstest.Owner(t)
	const pool = "addresses: {ipv4: 10.199.0.0/25, ipv6: 'fd00:199::/63'}\n" // two blocks
	p := planned(t, guest, pool+"endpoints: [{name: l, namespace: "+left+"}, {name: r, namespace: "+right+"}]\n")
	up(t, p)
	downAfter(t, guest)
	if owners, err := deploy.Owners(); err != nil || !slices.Contains(owners, guest) {
		t.Errorf("%s is not among %v: %v", guest, owners, err)
	}
	q := planned(t, nstest.Owner(t), pool+spec(forward("a")))
	for i := range q.Blocks {
		if q.Blocks[i].Overlaps(p.Blocks[i]) {
			t.Errorf("%s is taken", q.Blocks[i])
		}
	}
	up(t, q)
	downAfter(t, q.Chain)
	if again := planned(t, guest, pool+"endpoints: [{name: l, namespace: "+left+"}, {name: r, namespace: "+right+"}]\n"); !reflect.DeepEqual(again.Blocks, p.Blocks) {
		t.Errorf("a chain's own blocks %v became %v", p.Blocks, again.Blocks)
	}
	chain := plantest.Chain(t, nstest.Owner(t), pool)
	facts, err := deploy.Facts(chain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{}); err == nil || !strings.Contains(err.Error(), "no block") {
		t.Error("a third chain in a pool of two blocks:", err)
	}
	// What an existing namespace reaches is not given out again.
	end := nstest.Namespace(t)
	sh(t, "ip -n "+end+" link add x type veth peer name y; ip -n "+end+" link set x up; ip -n "+end+" route add 10.198.0.0/26 dev x table 5")
	r := planned(t, nstest.Owner(t), "addresses: {ipv4: 10.198.0.0/25, ipv6: none}\nendpoints: [{name: l, namespace: "+end+"}, {name: r}]\n")
	if r.Blocks[0].String() != "10.198.0.64/26" {
		t.Errorf("%s, where %s reaches 10.198.0.0/26", r.Blocks[0], end)
	}
}
