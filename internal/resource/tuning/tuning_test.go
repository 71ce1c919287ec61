package tuning_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

// place is a namespace of an owner's with a raised pair: eth0, which is the owner's and
// has a route, and far, which is nobody's.
func place(t *testing.T) resource.Place {
	t.Helper()
	nstest.Root(t)
	nstest.Require(t, feature.ToolIP, feature.ToolEthtool)
	owner := nstest.Owner(t)
	spec := namespace.Spec{Name: namespace.Name(owner, "a")}
	for _, op := range []resource.Op{resource.Create, resource.Delete} {
		apply := func() {
			if err := (namespace.Kind{}).Apply(resource.Place{Owner: owner}, []resource.Change{{Op: op, Key: spec.Name, Spec: spec}}); err != nil {
				t.Fatal(err)
			}
		}
		if op == resource.Create {
			apply()
		} else {
			t.Cleanup(apply)
		}
	}
	h := nstest.Open(t, spec.Name)
	if err := h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0", Alias: resource.Mark(owner) + "a"}, PeerName: "far"}); err != nil {
		t.Fatal(err)
	}
	p := resource.At(h, owner)
	for _, line := range []string{
		"ip link set eth0 up alias '" + resource.Mark(owner) + "a:eth0=b:far'", "ip link set far up",
		"ip address add 192.0.2.1 peer 192.0.2.2 dev eth0", "ip address add 2001:db8::1 peer 2001:db8::2 dev eth0 nodad",
		"ip route add 198.51.100.0/24 via 192.0.2.2 dev eth0 onlink proto 78",
		"ip route add 2001:db8:1::/48 via 2001:db8::2 dev eth0 onlink proto 78",
	} {
		in(t, p, line)
	}
	// Until then it gets a link-local address and a route to others of its own.
	nstest.Carries(t, h, "eth0")
	nstest.Carries(t, h, "far")
	// The kernel notes by itself, a moment later, that the other one of the pair's addresses is there.
	for deadline := time.Now().Add(time.Minute); in(t, p, "ip -6 route show 2001:db8::2") == ""; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no route to 2001:db8::2")
		}
	}
	return p
}

// in runs a shell line in the namespace, which sees the sysfs of its own.
func in(t *testing.T, p resource.Place, line string) string {
	t.Helper()
	out, err := exec.Command("ip", "netns", "exec", p.Ref, "sh", "-c", line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

func set(device string, words ...string) tuning.Spec {
	s := tuning.Spec{Device: device}
	for _, w := range words {
		knob, value, _ := strings.Cut(w, "=")
		s.Settings = append(s.Settings, tuning.Setting{Knob: knob, Value: value})
	}
	return s
}

func apply(p resource.Place, op resource.Op, s tuning.Spec) error {
	return (tuning.Kind{}).Apply(resource.At(p.Handle, p.Owner), []resource.Change{{Op: op, Key: s.Device, Spec: s}})
}

func must(t *testing.T, p resource.Place, op resource.Op, s tuning.Spec) {
	t.Helper()
	if err := apply(p, op, s); err != nil {
		t.Fatalf("%s %v: %v", op, s, err)
	}
}

// reads fails unless exactly these are found.
func reads(t *testing.T, p resource.Place, want ...tuning.Spec) {
	t.Helper()
	found, err := (tuning.Kind{}).Read(resource.At(p.Handle, p.Owner))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(want) {
		t.Errorf("found %v, want %v", found, want)
		return
	}
	for i, s := range want {
		if found[i].Key != s.Key() || found[i].Fingerprint != s.Fingerprint() {
			t.Errorf("found %v, want %s: %s", found[i], s.Key(), s.Fingerprint())
		}
	}
}

// attributes are what ip(8) of iproute2 6.1 does not show.
func attributes(t *testing.T, p resource.Place) *netlink.LinkAttrs {
	t.Helper()
	l, err := p.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs()
}

const features = "ethtool -k eth0 | grep -wE '"

// knobs of one interface or namespace: two values of each, and a witness that is not
// this package. A veth has GRO off at first, and everything else on.
var knobs = []struct {
	device     string
	with       string
	one, two   string
	says       string
	ones, twos string
}{
	{"eth0", "", "checksum=false", "checksum=true", features + "tx-checksum-ip-generic:'", "tx-checksum-ip-generic: off", "tx-checksum-ip-generic: on"},
	{"eth0", "", "scatter_gather=false", "scatter_gather=true", features + "tx-scatter-gather:'", "tx-scatter-gather: off", "tx-scatter-gather: on"},
	{"eth0", "", "tso=false", "tso=true", features + "tx-tcp-segmentation:|tx-tcp6-segmentation:'", "tx-tcp-segmentation: off tx-tcp6-segmentation: off", "tx-tcp-segmentation: on tx-tcp6-segmentation: on"},
	{"eth0", "", "gso=false", "gso=true", features + "generic-segmentation-offload:'", "generic-segmentation-offload: off", "generic-segmentation-offload: on"},
	{"eth0", "", "gro=true", "gro=false", features + "generic-receive-offload:'", "generic-receive-offload: on", "generic-receive-offload: off"},
	{"eth0", "", "udp_gro_forwarding=true", "udp_gro_forwarding=false", features + "rx-udp-gro-forwarding:'", "rx-udp-gro-forwarding: on", "rx-udp-gro-forwarding: off"},
	{"eth0", "", "gso_max_size=185000", "gso_max_size=65536", "ip -d link show eth0 | grep -o 'gso_max_size [0-9]*'", "gso_max_size 185000", "gso_max_size 65536"},
	{"eth0", "", "gro_max_size=185000", "gro_max_size=65536", "ip -d link show eth0 | grep -o 'gro_max_size [0-9]*'", "gro_max_size 185000", "gro_max_size 65536"},
	{"eth0", "gro=true", "threaded_napi=true", "threaded_napi=false", "cat /sys/class/net/eth0/threaded", "1", "0"},
	{"eth0", "", "rps=0", "rps=none", "cat /sys/class/net/eth0/queues/rx-0/rps_cpus | sed 's/^[0,]*//'", "1", ""},
	{"eth0", "", "tcp_mss=1000", "tcp_mss=1200", "{ ip route show 192.0.2.2; ip route show 198.51.100.0/24; ip -6 route show 2001:db8::2; ip -6 route show 2001:db8:1::/48; } | grep -c 'advmss 1000'", "4", "0"},
	{"lo", "", "tcp_congestion_control=reno", "tcp_congestion_control=reno", "sysctl -n net.ipv4.tcp_congestion_control", "reno", "reno"},
	{"lo", "", "tcp_window_scaling=false", "tcp_window_scaling=true", "sysctl -n net.ipv4.tcp_window_scaling", "0", "1"},
	{"lo", "", "tcp_rmem=4096 20000 30000", "tcp_rmem=4096 20000 40000", "sysctl -n net.ipv4.tcp_rmem", "4096 20000 30000", "4096 20000 40000"},
	{"lo", "", "tcp_wmem=4096 20000 30000", "tcp_wmem=4096 20000 40000", "sysctl -n net.ipv4.tcp_wmem", "4096 20000 30000", "4096 20000 40000"},
}

// TestKnobs takes each knob through what it must do: be set, read back, be set again,
// changed, and become again what it was.
func TestKnobs(t *testing.T) {
	for _, k := range knobs {
		t.Run(k.one, func(t *testing.T) {
			p := place(t)
			words := []string{k.one}
			if k.with != "" {
				words = append(words, k.with)
			}
			one := set(k.device, words...)
			words[0] = k.two
			two := set(k.device, words...)
			says := func(want string) {
				t.Helper()
				if got := in(t, p, k.says+" || true"); got != want {
					t.Errorf("%s: %q, want %q", k.says, got, want)
				}
			}
			const all = "ethtool -k eth0; ip -d link show eth0; cat /sys/class/net/eth0/threaded /sys/class/net/eth0/queues/rx-0/rps_cpus; ip route; ip -6 route; sysctl net.ipv4.tcp_congestion_control net.ipv4.tcp_window_scaling net.ipv4.tcp_rmem net.ipv4.tcp_wmem"
			before := in(t, p, all)
			reads(t, p)
			for range 2 { // twice is once
				must(t, p, resource.Create, one)
				reads(t, p, one)
				says(k.ones)
			}
			must(t, p, resource.Update, two)
			reads(t, p, two)
			says(k.twos)
			must(t, p, resource.Update, one)
			says(k.ones)
			for range 2 { // gone is gone, and all is as it was
				must(t, p, resource.Delete, one)
				reads(t, p)
				if after := in(t, p, all); after != before {
					t.Errorf("it was\n%s\nand became\n%s", before, after)
				}
			}
		})
	}
}

// TestThreadsAreBound, become unbound when they are not asked for any more, and are bound
// again when an interface that went down has others.
func TestThreadsAreBound(t *testing.T) {
	nstest.Require(t, feature.NAPIThreads, feature.CPUCount)
	p, device := place(t), nstest.Device(t)
	in(t, p, "ip link add "+device+" type veth peer name "+device+"p; ip link set "+device+"p up; ip link set "+device+" up alias '"+resource.Mark(p.Owner)+"a:x=b:y'")
	nstest.Carries(t, p.Handle, device)
	free, bound := set(device, "gro=true", "threaded_napi=true"), set(device, "gro=true", "threaded_napi=true", "napi_cpus=0")
	must(t, p, resource.Create, free)
	anywhere := threadsOf(t, device)
	if len(anywhere) != 1 || anywhere[0] == "0" {
		t.Fatalf("threads on %q", anywhere)
	}
	for range 2 {
		must(t, p, resource.Update, bound)
		reads(t, p, bound)
		threadsAre(t, device, "0")
		in(t, p, "ip link set "+device+" down; ip link set "+device+" up")
		found, err := (tuning.Kind{}).Read(resource.At(p.Handle, p.Owner))
		if err != nil || len(found) != 1 || found[0].Fingerprint == bound.Fingerprint() {
			t.Errorf("new threads pass for bound: %v, error %v", found, err)
		}
	}
	must(t, p, resource.Update, bound)
	must(t, p, resource.Update, free)
	reads(t, p, free)
	threadsAre(t, device, anywhere...)
	must(t, p, resource.Update, bound)
	must(t, p, resource.Delete, bound)
	reads(t, p)
	threadsAre(t, device)
	if err := apply(p, resource.Create, set(device, "napi_cpus=0")); err == nil || !strings.Contains(err.Error(), "threaded_napi") {
		t.Errorf("threads that are not there are bound: error %v", err)
	}
}

// threadsAre fails the test unless a device has threads with these CPUs and no others, once
// those that the kernel has ended are out of its list, which on a busy machine takes a moment.
func threadsAre(t *testing.T, device string, want ...string) {
	t.Helper()
	on := threadsOf(t, device)
	for deadline := time.Now().Add(time.Minute); !slices.Equal(on, want) && time.Now().Before(deadline); on = threadsOf(t, device) {
		time.Sleep(5 * time.Millisecond)
	}
	if !slices.Equal(on, want) {
		t.Errorf("threads on %q, want %q", on, want)
	}
}

// threadsOf a device, whose name is nobody else's: the CPUs that each may use, by what the
// kernel calls them.
func threadsOf(t *testing.T, device string) (on []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		name, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(name), "napi/"+device+"-") {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if err != nil {
			continue
		}
		on = append(on, procfs.Field(string(status), "Cpus_allowed_list"))
	}
	return on
}

// TestIPv4Sizes are what iproute2 cannot show before 6.3.
func TestIPv4Sizes(t *testing.T) {
	p := place(t)
	s := set("eth0", "gso_max_size=200000", "gro_max_size=200000", "gso_ipv4_max_size=190000", "gro_ipv4_max_size=180000")
	must(t, p, resource.Create, s)
	reads(t, p, s)
	if a := attributes(t, p); a.GSOIPv4MaxSize != 190000 || a.GROIPv4MaxSize != 180000 || a.GSOMaxSize != 200000 || a.GROMaxSize != 200000 {
		t.Errorf("%+v", a)
	}
	less := set("eth0", "gso_max_size=200000")
	must(t, p, resource.Update, less)
	reads(t, p, less)
	if a := attributes(t, p); a.GSOIPv4MaxSize != 65536 || a.GROIPv4MaxSize != 65536 || a.GSOMaxSize != 200000 || a.GROMaxSize != 65536 {
		t.Errorf("what is set no more: %+v", a)
	}
}

// TestQueues sets queues, where there is room for more than one, and what serves them.
func TestQueues(t *testing.T) {
	p := place(t)
	nstest.Require(t, feature.CPUCount)
	s := set("eth0", "rx_queues=2", "tx_queues=2", "rps=0-1", "xps=1")
	must(t, p, resource.Create, s)
	reads(t, p, s)
	if got := in(t, p, "cd /sys/class/net/eth0/queues; echo *; cat */rps_cpus */xps_cpus"); !strings.HasPrefix(got, "rx-0 rx-1 tx-0 tx-1") {
		t.Error(got)
	} else if masks := strings.Fields(got)[4:]; ends(masks, "3", "3", "2", "2") != "" {
		t.Error(masks)
	}
	in(t, p, "ethtool -L eth0 rx 1 tx 1")
	if found, err := (tuning.Kind{}).Read(p); err != nil || found[0].Fingerprint == s.Fingerprint() {
		t.Error("queues that somebody took away are not missed", found, err)
	}
	must(t, p, resource.Update, s)
	reads(t, p, s)
	must(t, p, resource.Delete, s)
	if got := in(t, p, "cd /sys/class/net/eth0/queues; echo *"); got != "rx-0 tx-0" {
		t.Error(got)
	}
}

// ends tells which of the masks does not end so: on machines of many cores they are long.
func ends(masks []string, want ...string) string {
	for i, w := range want {
		if i >= len(masks) || strings.TrimLeft(masks[i], "0,") != w {
			return strconv.Itoa(i)
		}
	}
	return ""
}

// TestDrift: what somebody else changed is seen, and put right.
func TestDrift(t *testing.T) {
	p := place(t)
	s := set("eth0", "gro=true", "gso_max_size=100000", "tcp_mss=1000", "rps=0")
	must(t, p, resource.Create, s)
	for _, line := range []string{"ethtool -K eth0 gro off", "ip link set eth0 gso_max_size 65536", "ip route replace 198.51.100.0/24 via 192.0.2.2 dev eth0 onlink proto 78", "echo 0 > /sys/class/net/eth0/queues/rx-0/rps_cpus"} {
		in(t, p, line)
		found, err := (tuning.Kind{}).Read(p)
		if err != nil || len(found) != 1 || found[0].Fingerprint == s.Fingerprint() {
			t.Errorf("%s: found %v, %v", line, found, err)
		}
		must(t, p, resource.Update, s)
		reads(t, p, s)
	}
}

// TestWhatTheKernelDoesNotTake is an error that says which knob of which interface, and
// what there is instead. What was set before stays set, so that it is put back.
func TestWhatTheKernelDoesNotTake(t *testing.T) {
	for _, c := range []struct {
		spec tuning.Spec
		says []string
	}{
		{set("eth0", "scatter_gather=false", "gso=true"), []string{"eth0", "gso: true was asked for, and the kernel has false"}},
		{set("eth0", "checksum=false", "tso=true"), []string{"tso: true was asked for, and the kernel has"}},
		{set("eth0", "threaded_napi=true"), []string{"threaded_napi", "with gro: true"}},
		{set("eth0", "gso_max_size=600000"), []string{"gso_max_size", "600000", "tso_max_size"}},
		{set("eth0", "rx_queues=4096"), []string{"rx_queues: the kernel refuses 4096 and has 1", "ethtool -l"}},
		{set("eth0", "rps=8000"), []string{"rps", "8000"}},
		{set("lo", "tcp_congestion_control=nosuch"), []string{"lo", "tcp_congestion_control: the kernel refuses nosuch", "tcp_available_congestion_control"}},
		{set("far", "gro=true"), []string{"not this chain's"}},
		{set("eth9", "gro=true"), []string{"eth9"}},
		{set("eth0", "colour=red"), []string{"colour"}},
	} {
		p := place(t)
		err := apply(p, resource.Create, c.spec)
		if err == nil {
			t.Errorf("%v is taken", c.spec)
			continue
		}
		for _, want := range append(c.says, p.Ref) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %q does not say %q", c.spec, err, want)
			}
		}
		if c.spec.Device == "eth0" {
			must(t, p, resource.Delete, c.spec)
			reads(t, p)
		}
	}
}

// TestEverythingAtOnce fits into one mark, with the longest name of an interface.
func TestEverythingAtOnce(t *testing.T) {
	p := place(t)
	in(t, p, "ip link set eth0 down; ip link set eth0 name nfc01234567eth0; ip link set nfc01234567eth0 up; ip address replace 192.0.2.1 peer 192.0.2.2 dev nfc01234567eth0")
	s := set("nfc01234567eth0", "rx_queues=1", "tx_queues=1", "checksum=true", "scatter_gather=true", "tso=true", "gso=true", "vlan=true", "gro=true", "udp_gro_forwarding=true",
		"gso_max_size=524280", "gro_max_size=524280", "gso_ipv4_max_size=524280", "gro_ipv4_max_size=524280", "threaded_napi=true", "rps=0", "tcp_mss=1400")
	lo := set("lo", "tcp_congestion_control=reno", "tcp_window_scaling=true", "tcp_rmem=4096 131072 6291456", "tcp_wmem=4096 16384 2147483647")
	must(t, p, resource.Create, s)
	must(t, p, resource.Create, lo)
	reads(t, p, lo, s)
	if all := len(s.Settings) + len(lo.Settings) + 2; all != len(tuning.Knobs()) { // but xps, and napi_cpus in the place of rps
		t.Errorf("%d of %d knobs are set here", all-2, len(tuning.Knobs()))
	}
	if nstest.Has(feature.NAPIThreads) {
		s.Settings[slices.Index(s.Settings, tuning.Setting{Knob: "rps", Value: "0"})] = tuning.Setting{Knob: tuning.NAPICPUs, Value: "0"}
		must(t, p, resource.Update, s)
		reads(t, p, lo, s)
	}
	must(t, p, resource.Delete, s)
	must(t, p, resource.Delete, lo)
	reads(t, p)
}

// TestOtherDrivers: on a macvlan interface sizes and cores can be set. Its offloads are those
// of the interface below, which is said.
func TestOtherDrivers(t *testing.T) {
	p := place(t)
	nstest.Require(t, feature.Macvlan)
	in(t, p, "ethtool -K far gro on; ip link add link far name eth1 type macvlan mode bridge; ip link set eth1 up alias '"+resource.Mark(p.Owner)+"a:eth1'")
	s := set("eth1", "gso_max_size=100000", "gro_max_size=100000", "rps=0")
	must(t, p, resource.Create, s)
	reads(t, p, s)
	for knob, name := range map[string]string{"tso": "tcp-segmentation-offload", "gro": "generic-receive-offload"} {
		err := apply(p, resource.Update, set("eth1", knob+"=false"))
		if got := in(t, p, "ethtool -k eth1 | grep "+name); (err == nil) == strings.HasPrefix(got, name+": on") {
			t.Errorf("%v, and the kernel has %s", err, got)
		}
		must(t, p, resource.Update, s)
		reads(t, p, s)
	}
	must(t, p, resource.Delete, s)
	reads(t, p)
}

// TestMadeByScript: what was there before is not known, so it is not guessed.
func TestMadeByScript(t *testing.T) {
	p := place(t)
	s := set("eth0", "gro=true")
	for _, c := range s.Commands(p.Ref) {
		if out, err := exec.Command(c.Args[0], c.Args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v %s", c.Args, err, out)
		}
	}
	reads(t, p, s)
	if err := apply(p, resource.Delete, s); err == nil || !strings.Contains(err.Error(), "gro: what it was before") {
		t.Error(err)
	}
	reads(t, p, s)
}
