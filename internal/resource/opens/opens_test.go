package opens_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/opens"
	"nfchain.dev/nfchain/internal/resource/steer"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// TestReadsBack what is at a port, told as it is wanted only with the table that the port has which faces the function.
func TestReadsBack(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	h, owner := nstest.Open(t, nstest.Namespace(t)), nstest.Owner(t)
	for _, name := range []string{"facing", "behind"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "-far"}
		if err := h.LinkAdd(pair); err != nil {
			t.Fatal(err)
		}
		if err := h.LinkSetAlias(pair, resource.Mark(owner)+name); err != nil {
			t.Fatal(err)
		}
	}
	p := resource.At(h, owner)
	apply := func(k resource.Kind, op resource.Op, s resource.Spec) error {
		return k.Apply(p, []resource.Change{{Op: op, Key: s.Key(), Spec: s}})
	}
	read := func() string {
		t.Helper()
		found, err := opens.Kind{}.Read(p)
		if err != nil || len(found) > 1 {
			t.Fatal(found, err)
		}
		if len(found) == 0 {
			return ""
		}
		return found[0].Fingerprint
	}
	spec := opens.Spec{Device: "behind", Of: "px", Replica: 2, Flows: 4096}
	if err := apply(opens.Kind{}, resource.Create, spec); err == nil || !strings.Contains(err.Error(), "no port has the flows of px, of 4096") {
		t.Errorf("where no port faces the function: %v", err)
	}
	faces := func(op resource.Op, flows uint32) {
		t.Helper()
		among := &steer.Among{Of: "px", Flows: flows, Idle: api.Duration(time.Hour), Replicas: []steer.Replica{{Number: 2, Port: "behind", Weight: 1}}}
		hook := steer.Clsact
		if feature.Probe(t.Context(), feature.Host()).Has(feature.BPFTCX) {
			hook = steer.TCX
		}
		if err := apply(steer.Kind{}, op, steer.Spec{Device: "facing", Hook: hook, Among: among}); err != nil {
			t.Fatal(err)
		}
	}
	faces(resource.Create, 4096)
	if err := apply(opens.Kind{}, resource.Create, spec); err != nil || read() != spec.Fingerprint() {
		t.Errorf("there is %q, and is to be %q: %v", read(), spec.Fingerprint(), err)
	}
	other := spec
	other.Replica = 3
	if err := apply(opens.Kind{}, resource.Update, other); err != nil || read() != other.Fingerprint() || read() == spec.Fingerprint() {
		t.Errorf("there is %q, and is to be %q: %v", read(), other.Fingerprint(), err)
	}
	faces(resource.Update, 8192)
	if read() == other.Fingerprint() {
		t.Error("it has a table that no port has, and is not told as wanted otherwise")
	}
	other.Flows = 8192
	if err := apply(opens.Kind{}, resource.Update, other); err != nil || read() != other.Fingerprint() {
		t.Errorf("there is %q, and is to be %q: %v", read(), other.Fingerprint(), err)
	}
	for range 2 { // of which the second finds nothing
		if err := apply(opens.Kind{}, resource.Delete, other); err != nil || read() != "" {
			t.Errorf("there is still %q: %v", read(), err)
		}
	}
}
