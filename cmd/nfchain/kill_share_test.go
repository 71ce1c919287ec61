package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
)

// sharing is a tenant's chain. Others that it is given have the same addresses and firewall.
const sharing = `
apiVersion: nfchain.dev/v1alpha1
kind: NetworkServiceChain
metadata: {name: NAME}
spec:
  addresses: {ipv4: NET0/26, ipv6: "fd77:48:PID::/64"}
  functions:
  - {name: fw, kind: firewall, firewall: {rules: {list: [{protocol: tcp, destination_port: 25, action: drop, comment: e2e}]}}}
  - {name: prog, kind: command, command: {args: [sleep, "1000"]}}
`

// TestKilledAnywhereSharing kills `up --share` of two tenants whose chains share a firewall,
// and their down, at random moments. The next up goes on from there, each tenant reaches its
// own server, and down leaves nothing.
func TestKilledAnywhereSharing(t *testing.T) {
	nstest.Root(t)
	c := cli{t, built(t), t.TempDir()}
	names, up := []string{owned("e2e-share-a"), owned("e2e-share-b")}, []string{"up", "--share"}
	for _, name := range names {
		file := filepath.Join(c.dir, name+".yaml")
		text := strings.NewReplacer("NAME", name, "NET", ownNet(), "PID", fmt.Sprintf("%x", os.Getpid()%0x10000)).Replace(owned(sharing))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		up = append(up, file)
	}
	shared := regexp.MustCompile(`(?m)^shared-\S+`).FindString(c.must(append([]string{"plan"}, up[1:]...)...))
	down := append([]string{"down"}, append(names, shared)...)
	t.Cleanup(func() { c.must(down...) })
	moments := rand.New(rand.NewPCG(3, uint64(time.Now().UnixNano())))
	within := func(d time.Duration) time.Duration { return time.Duration(moments.Int64N(int64(d))) }
	for round := range 4 {
		c.killAfter(within(200*time.Millisecond), up...)
		if round%2 == 0 { // else up goes on from where it was killed
			c.killAfter(within(60*time.Millisecond), down...)
		}
		c.must(up...)
		if out := c.must(up...); strings.Count(out, "nothing changed") != 3 {
			t.Fatalf("round %d: up after a kill did not converge:\n%s", round, out)
		}
		for _, name := range names {
			c.must("exec", name, "client", "--", "ping", "-c", "1", "-w", "20", "server")
		}
		for _, first := range []func(){
			func() { c.killAfter(within(60*time.Millisecond), down...) },
			func() { c.killAfter(within(200*time.Millisecond), up...) }, // and what is begun goes by one down
		} {
			first()
			c.must(down...)
			if left := leftovers(names[0]) + leftovers(names[1]) + leftovers(shared); left != "" {
				t.Fatalf("round %d: left behind:\n%s", round, left)
			}
		}
	}
}
