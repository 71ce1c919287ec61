package run_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestMachineIsStored: a run tells of the machine before, and of its chain as it
// was made, without being asked.
func TestMachineIsStored(t *testing.T) {
	b := newBed(t, plantest.Forwards(2))
	m, r := b.measurement(load(1, trial.TCP), tool{func(context.Context, traffic.Job) (traffic.Sample, error) {
		return traffic.Sample{Metrics: map[string]float64{"goodput_bps": 1}}, nil
	}})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	got := b.stored(r.ID)
	before := got.Environment.LoadBefore
	if before == nil || before.Busy == nil || before.Others == nil || before.OverS < run.LoadOver.Seconds() {
		t.Errorf("load before %+v", before)
	}
	for _, s := range got.Trials {
		// This trial may be shorter than a tick, of which there is no share.
		if l := s.Observed.Load; l == nil || l.OverS <= 0 || l.Average == nil {
			t.Errorf("load during a trial %+v", l)
		}
	}
	if len(got.Setups) != 1 {
		t.Fatalf("set-ups %+v", got.Setups)
	}
	s := got.Setups[0]
	if s.Wiring != "veth" || s.Length != 4 || s.Nodes["forward"] != 2 || len(s.Plan) != 64 || len(s.Unread) > 0 || !slices.Equal(s.Conditions, []int{0, 1}) {
		t.Errorf("set-up %+v", s)
	}
	forwards := "0, 1" // the ends' and the functions'
	if text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_forward"); strings.TrimSpace(string(text)) == "1" {
		forwards = "1" // which namespaces begin with what the host has
	}
	if s.Settings["net.ipv4.ip_forward"] != forwards || s.Settings["net.ipv4.conf.all.rp_filter"] != "0" {
		t.Errorf("settings of its namespaces: %v", s.Settings)
	}
	var names []string
	for _, i := range s.Interfaces {
		names = append(names, i.Interfaces...)
		if i.Type != "veth" || i.Driver != "veth" || i.MTU == 0 || !slices.Contains(i.OffloadsOn, "tx-tcp-segmentation") || len(i.Qdiscs) != 1 {
			t.Errorf("interface %+v", i)
		}
	}
	slices.Sort(names)
	if want := "client:eth0 client:ethd0 f0:eth0 f0:eth1 f1:eth0 f1:eth1 server:eth0 server:ethd1"; strings.Join(names, " ") != want {
		t.Errorf("interfaces %v, want %s", names, want)
	}
}

// TestSetupTellsInterfacesApart changes one interface and reads the chain again.
func TestSetupTellsInterfacesApart(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	b.up(run.UpOptions{})
	p, err := b.host.Plan(b.chain, nil, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s := run.ReadSetup(p); len(s.Interfaces) != 1 || len(s.Interfaces[0].Interfaces) != 4 {
		t.Fatalf("interfaces of a chain that is set alike: %+v", s.Interfaces)
	}
	f := p.Functions()[0]
	h := nstest.Open(t, f.Namespace)
	l, err := h.LinkByName(f.West.Device)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.LinkSetMTU(l, 1400); err != nil {
		t.Fatal(err)
	}
	if err := h.QdiscReplace(&netlink.GenericQdisc{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Parent: netlink.HANDLE_ROOT}, QdiscType: "pfifo"}); err != nil {
		t.Fatal(err)
	}
	s := run.ReadSetup(p)
	if len(s.Interfaces) != 2 {
		t.Fatalf("%+v", s.Interfaces)
	}
	i := s.Interfaces[1]
	if !slices.Equal(i.Interfaces, []string{"f0:" + f.West.Device}) || i.MTU != 1400 || !slices.Equal(i.Qdiscs, []string{"pfifo root"}) {
		t.Errorf("%+v", i)
	}
}

// TestSetupTellsKnobs: each that a file sets is with the results, as the kernel has it.
func TestSetupTellsKnobs(t *testing.T) {
	b := newBed(t, `functions: []
tuning: {gro: true, tso: false, gso_max_size: 100000, gro_ipv4_max_size: 90000, rps: "0", threaded_napi: true, tcp_mss: 1000, tcp_window_scaling: false, tcp_rmem: [4096, 65536, 1MiB]}
`)
	b.up(run.UpOptions{})
	p, err := b.host.Plan(b.chain, nil, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := run.ReadSetup(p)
	if len(s.Interfaces) != 1 || len(s.Unread) > 0 {
		t.Fatalf("%+v", s)
	}
	i := s.Interfaces[0]
	if !slices.Contains(i.OffloadsOn, "rx-gro") || !slices.Contains(i.OffloadsOff, "tx-tcp-segmentation") || i.GSOMaxBytes != 100000 || i.GROIPv4MaxBytes != 90000 {
		t.Errorf("%+v", i)
	}
	for name, want := range map[string]string{"rx_queues": "1", "tx_queues": "1", "rps": "0", "xps": "", "threaded_napi": "true", "tcp_mss": "1000"} {
		if i.Knobs[name] != want {
			t.Errorf("%s is %q, want %q", name, i.Knobs[name], want)
		}
	}
	if s.Settings["net.ipv4.tcp_window_scaling"] != "0" || s.Settings["net.ipv4.tcp_rmem"] != "4096 65536 1048576" {
		t.Errorf("%+v", s.Settings)
	}
}
