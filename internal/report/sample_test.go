package report

import (
	"fmt"
	"math"
	"math/rand"
	"sync"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/search"
	"nfchain.dev/nfchain/internal/trial"
)

var sampleStart = time.Date(2026, 11, 21, 3, 53, 52, 0, time.UTC)

var sampleEnvironment = trial.Environment{
	NfchainVersion: "v0.1.0", OS: "Debian GNU/Linux 13 (trixie)", Kernel: "6.18.0-1-cloud-amd64", Architecture: "amd64",
	Virtualization: "kvm", CPUModel: "AMD EPYC 9B14 <96-Core>", CPUs: 2, NUMANodes: 1, MemoryBytes: 8 << 30, Privileges: "root",
	KernelCmdline: "BOOT_IMAGE=/vmlinuz root=/dev/vda1 ro quiet mitigations=auto", Governor: "performance",
	Tools:    map[string]string{"iperf3": "3.18", "sockperf": "3.10"},
	Settings: map[string]string{"net.ipv4.tcp_congestion_control": "cubic"},
}

// describedFully is an environment of which a machine told all it could.
func describedFully(e trial.Environment) trial.Environment {
	node := 0
	e.Build, e.Firmware, e.Container, e.Microcode = "go1.24.4, linux/amd64", "SeaBIOS 1.16.2 04/01/2014", "Docker", "0xa101148"
	e.Processor = &trial.Processor{
		Sockets: 1, Cores: 2, ThreadsPerCore: 1, SMT: "notsupported", Driver: "acpi-cpufreq", MinHz: 1.5e9, MaxHz: 2.6e9, Turbo: "on",
		Caches:     []trial.Cache{{Level: 1, Type: "Data", SizeBytes: 32 << 10, SharedBy: "0"}, {Level: 3, Type: "Unified", SizeBytes: 32 << 20, SharedBy: "0-1"}},
		IdleDriver: "haltpoll, governor haltpoll", IdleStates: []trial.IdleState{{Name: "POLL"}, {Name: "C6", Disabled: true, LatencyS: 133e-6}},
		Isolated: "none", NohzFull: "1", RCUNocbs: "none", Allowed: "0-1",
	}
	e.NUMA = []trial.NUMANode{{Node: 0, CPUs: "0-1", MemoryBytes: 8 << 30}}
	e.Mitigations = map[string]string{"meltdown": "Not affected", "mds": "Not affected", "spectre_v2": "Mitigation: Retpolines"}
	e.Hugepages = []trial.HugepagePool{{SizeBytes: 2 << 20, Total: 512, Free: 500}}
	e.NICs = []trial.NIC{{Interface: "ens1", Driver: "i40e", Slot: "0000:3b:00.0", Device: "0x8086:0x1572", NUMANode: &node, SpeedBps: 1e10, Interrupts: 2, IRQCores: "0 1"}}
	cores, memory := 1.5, uint64(4<<30)
	e.Cgroup = &trial.Cgroup{Version: "v2", Path: "/user.slice", CPUs: &cores, CPUWeight: "100", CPUSet: "0-1", MemoryBytes: &memory}
	e.Limits = map[string]string{"nofile": "1024 / 1048576"}
	e.ToolsFound = map[string]string{"iperf3": "/usr/bin/iperf3 --version"}
	busy, steal := .11, .002
	e.LoadBefore = &trial.Load{OverS: .5, Average: &[3]float64{.4, 1.2, 2}, Busy: &busy, Steal: &steal, Pressure: map[string]trial.Pressure{"cpu": {Some: &busy}}}
	return e
}

// sampleSetup is a chain as it was read back.
func sampleSetup(conditions ...int) trial.Setup {
	return trial.Setup{
		Conditions: conditions, Wiring: "veth", Length: 4, Nodes: map[string]int{"endpoint": 2, "firewall": 1, "forward": 1}, Plan: "9f86d081",
		Interfaces: []trial.InterfaceSetup{{
			Interfaces: []string{"client:eth0", "fw:eth0"}, Type: "veth", Driver: "veth", MTU: 1500, QueueLen: 1000, RxQueues: 1, TxQueues: 1,
			GSOMaxBytes: 65536, GSOMaxSegments: 65535, GSOIPv4MaxBytes: 65536, GROMaxBytes: 65536, GROIPv4MaxBytes: 65536, Qdiscs: []string{"noqueue root"},
			OffloadsOn: []string{"tx-tcp-segmentation", "rx-checksum"}, OffloadsOff: []string{"rx-gro"},
		}},
		Settings: map[string]string{"net.ipv4.ip_forward": "0, 1", "net.ipv4.tcp_sack": "1"},
	}
}

// sharedMachine has every trial see others at work.
func sharedMachine(run *trial.Run) {
	for i := range run.Trials {
		busy, others := .8, .12
		o := &run.Trials[i].Observed
		o.Load = &trial.Load{OverS: 5, Busy: &busy, Others: &others, Largest: []trial.OtherUse{{Command: "backup", Ratio: .1}},
			Pressure: map[string]trial.Pressure{"cpu": {Some: &busy}, "io": {Some: &others, Full: &others}}}
		for j := range o.CPUs {
			o.CPUs[j].Steal = .03
		}
	}
}

// sampleBench is a run of `nfchain bench`: TCP, UDP and latency, through the
// chain and direct.
func sampleBench() Report {
	run := trial.Run{
		SchemaVersion: trial.SchemaVersion, ID: "20261121-035352-k3f9", Chain: "edge", State: trial.Done, CreatedAt: sampleStart,
		Command: []string{"nfchain", "bench", "examples/edge chain.yaml", "--repeats", "6"},
		Spec:    "kind: NetworkServiceChain\nmetadata: {name: edge} # <script>alert(1)</script>\n",
		Seed:    42, Repeats: 6, Environment: sampleEnvironment, Warnings: []string{"iperf3 & the chain share 2 cores: the generator may limit the result"},
	}
	r := rand.New(rand.NewSource(1))
	for _, path := range []string{trial.PathChain, trial.PathDirect} {
		slow, length := 1.0, 4
		if path == trial.PathDirect {
			slow, length = .35, 2
		}
		addCondition(&run, trial.Condition{Path: path, Protocol: trial.TCP, Tool: "iperf3", Flows: 1, DurationS: 5, Length: length},
			func() map[string]float64 { return map[string]float64{"goodput_bps": around(r, 9.7e9/slow, .01)} })
		addCondition(&run, trial.Condition{Path: path, Protocol: trial.UDP, Tool: "iperf3", Flows: 1, DurationS: 5, Length: length, PayloadSize: 1400},
			func() map[string]float64 {
				return map[string]float64{"goodput_bps": around(r, 1.9e9/slow, .12), "loss_ratio": around(r, .07*slow, .2), "jitter_ns": around(r, 11e3*slow, .1)}
			})
		addCondition(&run, trial.Condition{Path: path, Protocol: trial.Latency, Tool: "sockperf", Flows: 1, DurationS: 5, Length: length, PayloadSize: 64},
			func() map[string]float64 { return latencies(r, 40e3*slow) })
	}
	observe(&run, r)
	sharedMachine(&run)
	run.Environment, run.Setups = describedFully(run.Environment), []trial.Setup{sampleSetup(0, 1, 2, 3, 4, 5)}
	report := New(run)
	report.Place = "/home/u/.local/share/nfchain/results.db"
	return report
}

func latencies(r *rand.Rand, p50 float64) map[string]float64 {
	m := map[string]float64{}
	for i, name := range []string{"min", "p50", "p90", "p99", "p999", "max"} {
		m["latency_"+name+"_ns"] = math.Round(around(r, p50*[]float64{.6, 1, 1.4, 2.6, 9, 60}[i], .04*float64(i+1)))
	}
	return m
}

// sampleExperiment is a run like Livi et al., Fig. 7.
func sampleExperiment() Report {
	run := trial.Run{
		SchemaVersion: trial.SchemaVersion, ID: "20261121-041500-0000", Chain: "fig7", Experiment: "livi2016/fig7", State: trial.Interrupted,
		CreatedAt: sampleStart, Command: []string{"nfchain", "reproduce", "livi2016/fig7", "--quick"}, Spec: "kind: Experiment\n",
		Seed: 7, Repeats: 3, Quick: true, Environment: sampleEnvironment,
	}
	r := rand.New(rand.NewSource(2))
	for _, zerocopy := range []bool{false, true} {
		for _, length := range []int{2, 3, 5, 10, 20} {
			rate := 40e9 * math.Pow(.9, float64(length-2)) * (1 + .6*b2f(zerocopy))
			c := trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Tool: "iperf3", Flows: 8, DurationS: 2, Length: length, Zerocopy: zerocopy,
				Factors: map[string]any{"length": length, "zerocopy": zerocopy, "flows": 8}}
			addCondition(&run, c, func() map[string]float64 { return map[string]float64{"goodput_bps": around(r, rate, .03)} })
		}
	}
	run.Infeasible = []trial.Infeasible{{Factors: map[string]any{"length": 5000, "zerocopy": true, "flows": 8}, Reason: "a bridge takes 1,023 ports | and no more"}}
	run.Trials = run.Trials[:len(run.Trials)-1]
	for i := range run.Trials {
		run.Trials[i].OutsideS = .125
	}
	observe(&run, r)
	report := New(run)
	report.Source = &api.Source{ID: "livi2016", Title: "Container Chaining Performance", At: "Fig. 7", Machine: "Xeon E5-2630, 8 cores"}
	for i, length := range []int{2, 3, 5} {
		report.References = append(report.References, api.Reference{At: map[string]any{"length": length, "zerocopy": true},
			Metric: "goodput_bps", Value: []float64{155e9, 138e9, 97.25e9}[i]})
	}
	report.Fits, report.Rankings, report.Verdicts = sampleFits(report), sampleRankings(), sampleVerdicts()
	return report
}

// sampleFits are two models of the same lengths, one of which was tried on 20.
func sampleFits(r Report) []experiment.Fit {
	loss := experiment.Fit{Name: "loss", Kind: "loss_per_hop", Metric: "goodput_bps", Over: "length", Where: map[string]any{"zerocopy": true},
		Formula: "t(n) = t(2)·(1−l)^(n−2)",
		Params:  []experiment.Param{{Name: "t2", Value: 63.9e9, CI95: &[2]float64{62e9, 66e9}, Unit: "bps"}, {Name: "l", Value: .0993, CI95: &[2]float64{.081, .1176}}},
		Notes:   []string{"the source also prints l = 0.15"}, HeldOut: &experiment.HeldOut{ErrorRatio: .021, CI95: &[2]float64{.011, .034}}}
	sampleCurve(r, &loss, func(n float64) float64 { return 63.9e9 * math.Pow(.9007, n-2) })
	adds := experiment.Fit{Name: "adds", Kind: "cost_per_hop", Metric: "goodput_bps", Over: "length", Where: map[string]any{"zerocopy": true},
		Formula: "1/t(n) = 1/t(2) + per_hop·(n−2)",
		Params:  []experiment.Param{{Name: "t2", Value: 66e9, CI95: &[2]float64{64e9, 68e9}, Unit: "bps"}, {Name: "per_hop", Value: 2.1, CI95: &[2]float64{1.9, 2.3}, Unit: "ns/kbit"}},
		Notes:   []string{}, HeldOut: &experiment.HeldOut{ErrorRatio: .35, CI95: &[2]float64{.31, .41}}}
	sampleCurve(r, &adds, func(n float64) float64 { return 1 / (1/66e9 + 2.1e-12*(n-2)) })
	return []experiment.Fit{loss, adds, {Name: "many", Kind: "usl", Metric: "goodput_bps", Over: "flows", Formula: "t(N) = λ·N/(1+σ·(N−1)+κ·N·(N−1))",
		Params: []experiment.Param{}, Points: []experiment.FitPoint{}, Notes: []string{"not fitted: it takes trials at 3 values of what is varied, and there are 1"}}}
}

// sampleCurve gives a model its points and its curve.
func sampleCurve(r Report, f *experiment.Fit, at func(n float64) float64) {
	f.Range, f.HeldOut.Points = &[2]float64{2, 5}, []experiment.FitPoint{}
	for i, length := range []int{2, 3, 5, 10, 20} {
		n, measured := float64(length), centre(r.Conditions[5+i].Metrics["goodput_bps"])
		p := experiment.FitPoint{X: n, Length: length, Measured: measured, Predicted: at(n), RelativeError: at(n)/measured - 1, Fitted: length <= 5, Stretched: length > 5}
		f.Points, f.Curve = append(f.Points, p), append(f.Curve, [2]float64{n, at(n)})
		if length > 5 {
			f.HeldOut.Points = append(f.HeldOut.Points, p)
		}
	}
}

func sampleRankings() []experiment.Ranking {
	return []experiment.Ranking{{Metric: "goodput_bps", Over: "length", Where: map[string]any{"zerocopy": true}, Best: "loss", Reason: "loss (2.1%) foretells better than every other",
		Models: []experiment.Ranked{{Name: "loss", Kind: "loss_per_hop", ErrorRatio: .021, CI95: &[2]float64{.011, .034}},
			{Name: "adds", Kind: "cost_per_hop", ErrorRatio: .35, CI95: &[2]float64{.31, .41}, OverBest: &experiment.Bounded{Value: 16.7, CI95: &[2]float64{10.2, 31.5}}}}}}
}

func sampleVerdicts() []experiment.Verdict {
	number := func(x float64) *float64 { return &x }
	return []experiment.Verdict{
		{ID: "livi2016/fig7-first", Text: "The third namespace costs about 11% of 8 zerocopy flows", At: "§IV-C, Fig. 7", Verdict: experiment.Holds,
			Reason: "the loss is 10.2% [8.1%, 12.3%], within 5% to 15%", Quantity: "loss of goodput_bps from length=2 to length=3",
			Estimate: number(.102), CI95: &[2]float64{.081, .123}, AtLeast: number(.05), AtMost: number(.15)},
		{ID: "livi2016/fig7-fade", Text: "Loss per namespace fades with length", At: "§IV-C", Verdict: experiment.DoesNotHold, Reason: "it is 0.4% more <per> hop"},
		{ID: "livi2016/fig7-power", Text: "Short chains follow the power law", Verdict: experiment.Undecided, Reason: "the interval spans the bound", Note: "k = n-2"},
		{ID: "livi2016/fig7-veth-ovs", Text: "Direct veth beats a switch", Verdict: experiment.CannotBeTold, Reason: "needs wiring ovs, which is not here"},
	}
}

// addCondition appends a condition with a trial for each repeat.
func addCondition(run *trial.Run, c trial.Condition, measure func() map[string]float64) {
	run.Conditions = append(run.Conditions, c)
	for repeat := 1; repeat <= run.Repeats; repeat++ {
		run.Trials = append(run.Trials, trial.Trial{Condition: len(run.Conditions) - 1, Repeat: repeat, DurationS: c.DurationS,
			StartedAt: sampleStart.Add(time.Duration(len(run.Trials)) * 6 * time.Second), Metrics: measure()})
	}
}

// observe adds CPU use to every trial, and drops and a warning to some.
func observe(run *trial.Run, r *rand.Rand) {
	for i := range run.Trials {
		t := &run.Trials[i]
		for cpu := range run.Environment.CPUs {
			user, system := around(r, .08, .3), around(r, .45, .1)
			t.Observed.CPUs = append(t.Observed.CPUs, trial.CPUUse{CPU: cpu, User: user, System: system, Softirq: .35, Idle: .65 - user - system})
		}
		if run.Conditions[t.Condition].Protocol == trial.UDP {
			t.Observed.Interfaces = append(t.Observed.Interfaces, trial.InterfaceCounts{Node: "shape", Interface: "eth1", TxDropped: 1000 + uint64(i)},
				trial.InterfaceCounts{Node: "fw", Interface: "eth0"})
			t.Warnings = append(t.Warnings, fmt.Sprintf("the generator used all of %s", "cpu 0"))
		}
	}
}

// sampleDetailed is the bench with all that tools may keep of a trial.
func sampleDetailed() Report {
	run := sampleBench().Run
	detail(&run, rand.New(rand.NewSource(4)))
	return New(run)
}

// sampleSearch looks for the throughput of a chain with a sharp capacity at three
// frame sizes, and for two rates with loss.
var sampleSearch = sync.OnceValue(func() Report {
	run := trial.Run{SchemaVersion: trial.SchemaVersion, ID: "20261121-041500-0002", Chain: "edge", State: trial.Done, CreatedAt: sampleStart,
		Command: []string{"nfchain", "bench", "edge.yaml", "--search", "rfc2544_throughput"}, Seed: 3, Repeats: 1, Environment: sampleEnvironment}
	for _, c := range []struct {
		size     int
		method   string
		capacity float64
	}{{64, trial.RFC2544Throughput, 812e3}, {512, trial.RFC2544Throughput, 640e3}, {1518, trial.RFC2544Throughput, 401e3}, {64, trial.MLRsearch, 812e3}} {
		spec := search.Complete(trial.Search{Method: c.method, MaxPps: 2e6, MediumPps: 10e9 / 8 / float64(c.size+20)})
		condition := trial.Condition{Path: trial.PathChain, Protocol: trial.UDP, Tool: "builtin", Flows: 1, Length: 4, Search: &spec, Frames: trial.Frames{FrameSize: c.size}}
		run.Conditions = append(run.Conditions, condition)
		runSearch(&run, len(run.Conditions)-1, c.capacity)
	}
	return New(run)
})

func runSearch(run *trial.Run, condition int, capacity float64) {
	method, err := search.New(*run.Conditions[condition].Search)
	if err != nil {
		panic(err)
	}
	add := func(t trial.Trial) {
		t.Condition, t.Repeat, t.StartedAt = condition, 1, sampleStart.Add(time.Duration(len(run.Trials))*time.Minute)
		run.Trials = append(run.Trials, t)
	}
	for {
		history := search.History(*run, condition, 1)
		step, more := method.Next(history)
		if !more {
			result := method.Result(history)
			add(trial.Trial{DurationS: result.TrafficS + result.WaitS, Metrics: result.Metrics()})
			return
		}
		add(trial.Trial{Step: len(history) + 1, Asked: &step, DurationS: step.DurationS, Metrics: map[string]float64{
			"sent_pps": step.LoadPps, "forwarding_rate_pps": min(step.LoadPps, capacity), "loss_ratio": max(0, 1-capacity/step.LoadPps)}})
	}
}

// detail adds the distribution of latencies, and goodput by the second.
func detail(run *trial.Run, r *rand.Rand) {
	for i := range run.Trials {
		t := &run.Trials[i]
		if p50, has := t.Metrics["latency_p50_ns"]; has {
			h := trial.NewHistogram()
			for range 20000 {
				_ = h.RecordValue(int64(p50 * (.6 + .4*r.ExpFloat64())))
			}
			text, _ := trial.EncodeHistogram(h)
			t.Histograms = map[string]string{"latency_ns": text}
		}
		if goodput, has := t.Metrics["goodput_bps"]; has {
			s := trial.Series{StepS: 1}
			for range 5 {
				v := around(r, goodput, .05)
				s.Values = append(s.Values, &v)
			}
			t.Series = map[string]trial.Series{"goodput_bps": s}
		}
	}
}

func around(r *rand.Rand, centre, share float64) float64 { return centre * (1 + share*r.NormFloat64()) }

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
