package report

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// whats are the names of differences.
func whats(all []Difference) []string {
	names := []string{}
	for _, d := range all {
		names = append(names, d.What)
	}
	return names
}

// TestEveryCheckedEntryIsToldOrNamed: what the standards list is in the table, or is
// named as not told or as not applying, of a machine that tells all and of one that
// tells nothing.
func TestEveryCheckedEntryIsToldOrNamed(t *testing.T) {
	full := sampleBench().Run
	counts := map[standing]int{}
	for _, run := range []trial.Run{full, {}} {
		rows := map[string]string{}
		for _, r := range environmentTable(run).Rows {
			rows[r.Cells[0]] += r.Cells[1]
		}
		for _, list := range checklists {
			for _, e := range list.entries {
				s := e.stand(run)
				counts[s]++
				if in := listed(rows["cannot be told here"], e.item); in != (s == untold) {
					t.Errorf("%s of run%q stands at%d, named as untold:%v", e.item, run.ID, s, in)
				}
				if in := listed(rows["does not apply"], e.item); in != (s == moot) {
					t.Errorf("%s of run%q stands at%d, named as not applying:%v", e.item, run.ID, s, in)
				}
			}
		}
	}
	for _, s := range []standing{untold, told, moot} {
		if counts[s] == 0 {
			t.Errorf("no entry ever stands at%d", s)
		}
	}
}

// listed tells whether an item stands in a row, whole.
func listed(row, item string) bool {
	return regexp.MustCompile("(: |, )" + regexp.QuoteMeta(item) + "(, |; |$)").MatchString(row)
}

// TestNothingIsToldOfNothing: a run of which nothing is known claims nothing of its
// machine.
func TestNothingIsToldOfNothing(t *testing.T) {
	for _, list := range checklists {
		for _, e := range list.entries {
			if e.stand(trial.Run{}) == told {
				t.Errorf("%s:%s is told of a machine that told nothing", list.source, e.item)
			}
		}
	}
	if got := environmentTable(trial.Run{}).Rows; len(got) != 2 {
		t.Errorf("rows of nothing:%v", got)
	}
}

func TestSharing(t *testing.T) {
	if got, want := sampleBench().sharing(), "this machine is virtualised (kvm), seen from a container (Docker) and shared: "+
		"steal was 3%, other programs took 12% of its CPU time (most: backup, 10%)"; got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	quiet := trial.Run{Environment: trial.Environment{CPUModel: "x"}}
	zero := 0.0
	quiet.Trials = []trial.Trial{{DurationS: 1, Observed: trial.Observation{CPUs: []trial.CPUUse{{Idle: 1}}, Load: &trial.Load{OverS: 1, Others: &zero}}}}
	if got, want := New(quiet).sharing(), "this machine is not virtualised as far as it tells: steal was 0%, other programs took 0% of its CPU time"; got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	if got, want := New(trial.Run{}).sharing(), "this machine is not described: how much others used it was not measured"; got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
}

// TestMeanLoadWeighsByTime: a long trial counts for more.
func TestMeanLoadWeighsByTime(t *testing.T) {
	few, many := .1, .4
	trials := []trial.Trial{
		{Observed: trial.Observation{Load: &trial.Load{OverS: 3, Others: &few, Largest: []trial.OtherUse{{Command: "a", Ratio: .1}}}}},
		{Observed: trial.Observation{Load: &trial.Load{OverS: 1, Others: &many, Largest: []trial.OtherUse{{Command: "b", Ratio: .4}}}}},
		{Observed: trial.Observation{}},
	}
	m := meanLoad(trials)
	if m == nil || m.Others == nil || *m.Others < .1749 || *m.Others > .1751 || m.Busy != nil || m.Steal != nil {
		t.Fatalf("%+v", m)
	}
	if len(m.Largest) != 2 || m.Largest[0].Command != "b" || m.Largest[1].Command != "a" {
		t.Errorf("%+v", m.Largest)
	}
}

// TestCompareNamesWhatMatters changes one thing at a time.
func TestCompareNamesWhatMatters(t *testing.T) {
	cases := []struct {
		change  func(*trial.Run)
		what    string
		matters bool
	}{
		{func(r *trial.Run) { r.Environment.Kernel = "x" }, "kernel", true},
		{func(r *trial.Run) { r.Environment.CPUModel = "x" }, "CPU model", true},
		{func(r *trial.Run) { r.Environment.Virtualization = "" }, "virtualization", true},
		{func(r *trial.Run) { r.Environment.Governor = "x" }, "CPU governor", true},
		{func(r *trial.Run) { r.Environment.Mitigations["meltdown"] = "Vulnerable" }, "mitigation of meltdown", true},
		{func(r *trial.Run) { r.Environment.Microcode = "0x1" }, "microcode", true},
		{func(r *trial.Run) { r.Environment.Processor.Turbo = "off" }, "turbo", true},
		{func(r *trial.Run) { r.Environment.Processor.Isolated = "1" }, "isolated cores", true},
		{func(r *trial.Run) { r.Environment.Cgroup.CPUs = nil }, "cgroup's limit of CPU time", true},
		{func(r *trial.Run) { r.Environment.Tools["iperf3"] = "9" }, "tool iperf3", true},
		{func(r *trial.Run) { r.Environment.Tools["ip"] = "9" }, "tool ip", false},
		{func(r *trial.Run) { r.Environment.Settings["net.ipv4.tcp_congestion_control"] = "bbr" }, "setting net.ipv4.tcp_congestion_control", true},
		{func(r *trial.Run) { r.Setups[0].Wiring = "bridge" }, "wiring", true},
		{func(r *trial.Run) { r.Setups[0].Interfaces[0].OffloadsOff = []string{"rx-gro", "rx-checksum"} }, "offload rx-checksum", true},
		{func(r *trial.Run) { r.Setups[0].Interfaces[0].MTU = 9000 }, "MTU", true},
		{func(r *trial.Run) { r.Setups[0].Interfaces[0].GSOIPv4MaxBytes = 500000 }, "GSO", true},
		{func(r *trial.Run) { r.Setups[0].Settings["net.ipv4.tcp_sack"] = "0" }, "chain's setting net.ipv4.tcp_sack", true},
		{func(r *trial.Run) { r.Environment.MemoryBytes = 1 << 30 }, "memory", false},
		{func(r *trial.Run) { r.Environment.Firmware = "x" }, "firmware", false},
		{func(r *trial.Run) { r.Environment.Limits["nofile"] = "1 / 1" }, "limit nofile", false},
		// What is not known makes nothing unlike, and is said.
		{func(r *trial.Run) { r.Environment.Governor = "" }, "CPU governor", false},
		{func(r *trial.Run) { r.Environment.Mitigations = nil }, "mitigations", false},
		{func(r *trial.Run) { r.Environment.Cgroup = nil }, "cgroup's limit of CPU time", false},
		{func(r *trial.Run) { r.Setups = nil }, "chain as read back", false},
		{func(r *trial.Run) {
			r.Setups[0].Interfaces[0].OffloadsOn, r.Setups[0].Interfaces[0].OffloadsOff = nil, nil
		}, "offloads", false},
	}
	for _, c := range cases {
		b := sampleBench().Run
		b.Environment.Tools = map[string]string{"iperf3": "3.18", "sockperf": "3.10", "ip": "6.1"}
		b.Environment.Settings = map[string]string{"net.ipv4.tcp_congestion_control": "cubic"}
		a := sampleBench()
		a.Run.Environment.Tools = map[string]string{"iperf3": "3.18", "sockperf": "3.10", "ip": "6.1"}
		c.change(&b)
		got, err := Compare(a, New(b), CompareOptions{})
		want := [2][]string{{}, {c.what}}
		if c.matters {
			want = [2][]string{{c.what}, {}}
		}
		if errors.Is(err, ErrUnlike) != c.matters || !slices.Equal(whats(got.Unlike), want[0]) || !slices.Equal(whats(got.Noted), want[1]) {
			t.Errorf("%s: unlike%v, noted%v,%v", c.what, got.Unlike, got.Noted, err)
		}
	}
}

// TestSwitchMattersToWhatGoesThroughIt: its version makes runs over it unlike, and no others.
func TestSwitchMattersToWhatGoesThroughIt(t *testing.T) {
	for wiring, matters := range map[string]bool{"ovs": true, "veth": false} {
		of := func(version string) Report {
			r := sampleBench().Run
			r.Environment.Tools = map[string]string{"ovs": version}
			for i := range r.Setups {
				r.Setups[i].Wiring = wiring
			}
			return New(r)
		}
		_, err := Compare(of("2.17"), of("3.5"), CompareOptions{})
		if errors.Is(err, ErrUnlike) != matters {
			t.Errorf("%s: %v", wiring, err)
		}
	}
}

// TestLoadAndDatesDoNotMatter.
func TestLoadAndDatesDoNotMatter(t *testing.T) {
	b := sampleBench().Run
	b.CreatedAt = b.CreatedAt.AddDate(1, 0, 0)
	b.Environment.LoadBefore = nil
	for i := range b.Trials {
		b.Trials[i].Observed.Load = nil
	}
	c, err := Compare(sampleBench(), New(b), CompareOptions{})
	if err != nil || len(c.Unlike)+len(c.Noted) != 0 {
		t.Errorf("%v%v%v", c.Unlike, c.Noted, err)
	}
}

// TestOldRunsAreComparedAndSaid: a run stored before anything new was captured.
func TestOldRunsAreComparedAndSaid(t *testing.T) {
	old := sampleBench().Run
	old.Setups, old.Environment = nil, sampleEnvironment
	for i := range old.Trials {
		old.Trials[i].Observed.Load = nil
	}
	c, err := Compare(New(old), sampleBench(), CompareOptions{})
	if err != nil || len(c.Unlike) != 0 {
		t.Fatalf("%v,%v", c.Unlike, err)
	}
	for _, what := range []string{"mitigations", "microcode", "chain as read back", "SMT"} {
		if !slices.Contains(whats(c.Noted), what) {
			t.Errorf("it is not said that%s is unknown:%v", what, c.Noted)
		}
	}
}

// TestUnknownSettingsAreNamedInWords: what one of two runs knows nothing of, in the plural.
func TestUnknownSettingsAreNamedInWords(t *testing.T) {
	a, b := sampleSetup(0), sampleSetup(0)
	a.WiringSettings, b.WiringSettings = map[string]string{"mode": "l3"}, nil
	var found []string
	for _, d := range setupDifferences(&a, &b) {
		found = append(found, d.What)
	}
	if !slices.Equal(found, []string{"wiring's settings"}) {
		t.Errorf("%q", found)
	}
}
