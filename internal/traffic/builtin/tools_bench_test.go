package builtin

import (
	"context"
	"encoding/json"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/iperf3"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

// BenchmarkAgainstTools has the generator, iperf3 and sockperf offer 64-byte frames over
// one veth pair in turns, a second each.
func BenchmarkAgainstTools(b *testing.B) {
	nstest.Require(b, feature.Root, feature.BPFXDP, feature.ToolIperf3, feature.ToolSockp)
	var own, iperf, sockperf float64
	for range b.N {
		pps, _ := rate(b, load{flows: 1})
		own += pps
		job := traffictest.Job(b, trial.Condition{Protocol: trial.UDP, PayloadSize: 18})
		s, err := iperf3.Tool{}.Run(context.Background(), job)
		if err != nil {
			b.Fatal(err)
		}
		iperf += s.Metrics["goodput_bps"] / 8 / 18
		sockperf += sockperfRate(b, job.ClientNetns, job.ServerNetns)
	}
	n := float64(b.N)
	b.ReportMetric(own/n, "pps")
	b.ReportMetric(iperf/n, "iperf3-pps")
	b.ReportMetric(sockperf/n, "sockperf-pps")
	b.ReportMetric(own/iperf, "times-iperf3")
	b.ReportMetric(own/sockperf, "times-sockperf")
}

var messageRate = regexp.MustCompile(`Message Rate is (\d+)`)

// sockperfRate is how many messages of 18 bytes sockperf sends in a second.
func sockperfRate(b *testing.B, client, server string) float64 {
	b.Helper()
	const port = 11111
	serving := exec.Command("sockperf", "server", "-i", "192.0.2.2", "-p", strconv.Itoa(port))
	if err := netns.Start(server, serving); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = serving.Wait() }()
	defer func() { _ = serving.Process.Kill() }()
	for !netns.BoundUDP(serving.Process.Pid, port) {
		time.Sleep(time.Millisecond)
	}
	sending := exec.Command("sockperf", "throughput", "-i", "192.0.2.2", "-p", strconv.Itoa(port), "-m", "18", "-t", "1")
	var out []byte
	if err := netns.Do(client, func() (err error) { out, err = sending.CombinedOutput(); return err }); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	m := messageRate.FindSubmatch(out)
	if m == nil {
		b.Fatalf("sockperf printed %s", out)
	}
	pps, _ := strconv.ParseFloat(string(m[1]), 64)
	return pps
}

// BenchmarkPacing offers loads from 1 kpps to 80% of the ceiling, and tells how far off
// what was sent is.
func BenchmarkPacing(b *testing.B) {
	nstest.Require(b, feature.Root, feature.BPFXDP)
	ceiling, err := Tool{}.Ceiling(context.Background(), trial.Condition{Flows: 1, Frames: trial.Frames{FrameSize: 64}})
	if err != nil {
		b.Fatal(err)
	}
	for name, pps := range map[string]float64{"1k": 1e3, "10k": 1e4, "100k": 1e5, "1M": 1e6, "40%": .4 * ceiling, "80%": .8 * ceiling} {
		b.Run(name, func(b *testing.B) {
			var off, late, core float64
			for range b.N {
				job := traffictest.Job(b, trial.Condition{OfferedPps: pps, Frames: trial.Frames{FrameSize: 64}})
				s, err := Tool{}.Run(context.Background(), job)
				if err != nil {
					b.Fatal(err)
				}
				off = max(off, 100*abs(s.Metrics["sent_pps"]/pps-1))
				late += s.Metrics["schedule_error_p50_ns"]
				core += busy(b, s)
			}
			b.ReportMetric(pps, "pps")
			b.ReportMetric(off, "%off")
			b.ReportMetric(late/float64(b.N), "late-p50-ns")
			b.ReportMetric(100*core/float64(b.N), "%core")
		})
	}
}

// busy is the share of its core that the generator had: all, on a machine at rest.
func busy(b *testing.B, s traffic.Sample) float64 {
	b.Helper()
	var c counters
	if err := json.Unmarshal(s.Raw[0].Output, &c); err != nil {
		b.Fatal(err)
	}
	return c.BusyS / c.Seconds
}

func abs(v float64) float64 { return max(v, -v) }
