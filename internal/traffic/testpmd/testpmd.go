// Package testpmd offers UDP frames with DPDK's testpmd in its mode txonly, over a
// packet socket on the client's interface, without hugepages. What arrives is
// counted by a packet socket of the kernel at the server.
package testpmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

const (
	// fcs is the frame check sequence, which RFC 2544 counts and testpmd does not.
	fcs = 4
	// smallest frame of RFC 2544, which is sent where nobody says.
	smallest = 64
	// headers of Ethernet, IPv4 and UDP.
	headers = 14 + 20 + 8
)

// Tool is testpmd.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "testpmd" }

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.testpmd"} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.UDP} }

var _ traffic.Framer = Tool{}

// errNoRate is returned where a search asks what it may offer.
var errNoRate = errors.New("testpmd sends as fast as it can, so that nothing can be searched for with it; use builtin")

// Ceiling implements traffic.Framer: there is none, as there are no lower rates.
func (Tool) Ceiling(context.Context, trial.Condition) (float64, error) { return 0, errNoRate }

// errOptions is returned for loads that testpmd does not offer.
var errOptions = errors.New("testpmd sends frames of one size over IPv4, one way, as fast as it can: leave out everything but the frame size, or use builtin")

func check(job traffic.Job) error {
	c := job.Condition
	if c.Frames != (trial.Frames{FrameSize: c.FrameSize}) || c.OfferedBps > 0 || c.OfferedPps > 0 || c.Flows > 1 || c.PayloadSize > 0 || !job.Address.Is4() {
		return errOptions
	}
	return nil
}

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	if err := check(job); err != nil {
		return traffic.Sample{}, err
	}
	ctx, cancel := traffic.FloodDeadline(ctx, job.Condition.DurationS)
	defer cancel()
	way, err := job.Exit(job.Address)
	if err != nil {
		return traffic.Sample{}, err
	}
	count, err := traffic.Count(job.ServerNetns, traffic.Arrivals{Port: job.FirstPort})
	if err != nil {
		return traffic.Sample{}, err
	}
	defer count.Close()
	// DPDK leaves files behind, wherever it is told to.
	dir, err := os.MkdirTemp("", "nfchain-testpmd-")
	if err != nil {
		return traffic.Sample{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := job.StartClient(ctx, args(job, way, dir)...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer p.Kill()
	flood, err := count.Flood(ctx, p, job.Condition.DurationS)
	if err != nil {
		return traffic.Sample{}, err
	}
	return sample(job, p, flood)
}

func sample(job traffic.Job, p *traffic.Process, flood traffic.Flood) (traffic.Sample, error) {
	sent, err := parse(p.Stdout())
	if err != nil {
		return traffic.Sample{}, err
	}
	return traffic.Sample{Histograms: map[string]string{}, Raw: []trial.ToolOutput{p.Output()}, Metrics: metrics(job.Condition, sent, flood)}, nil
}

// metrics of a flood. testpmd tells how many frames it sent but not for how long, so the
// rate at which it sent is that at which they arrived, with those that did not. As
// nothing was asked for but as much as it can, nothing is unsent.
func metrics(c trial.Condition, sent uint64, flood traffic.Flood) map[string]float64 {
	loss := max(0, 1-float64(flood.Arrived)/float64(sent))
	m := map[string]float64{
		"forwarding_rate_pps": flood.Rate, "goodput_bps": flood.Rate * 8 * float64(frameSize(c)-fcs-headers),
		"loss_ratio": loss, "sent_packets": float64(sent), "unsent_ratio": 0,
	}
	if loss < 1 {
		m["sent_pps"] = flood.Rate / (1 - loss)
	}
	return m
}

// cores that testpmd's threads may use, all of them where none are named.
func cores(affinity string) string {
	list := traffic.Cores(affinity)
	if len(list) == 0 {
		list = traffic.Cores("spread")
	}
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = strconv.Itoa(c)
	}
	return strings.Join(words, ",")
}

func frameSize(c trial.Condition) int { return max(smallest, c.FrameSize) }

func args(job traffic.Job, w traffic.Exit, dir string) []string {
	port := strconv.Itoa(job.FirstPort)
	return []string{"env", "RUNTIME_DIRECTORY=" + dir, "dpdk-testpmd", "--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf",
		"--vdev=net_af_packet0,iface=" + w.Device.Attrs().Name, "--lcores", "(0,1)@(" + cores(job.Condition.Affinity) + ")", "--",
		"--forward-mode=txonly", "--auto-start", "--stats-period=3600", "--total-num-mbufs=4096",
		"--txpkts=" + strconv.Itoa(frameSize(job.Condition)-fcs), "--eth-peer=0," + w.ToMAC.String(),
		"--tx-ip=" + w.From.String() + "," + job.Address.String(), "--tx-udp=" + port + "," + port}
}

var transmitted = regexp.MustCompile(`Accumulated forward statistics[^\n]*\n[^\n]*\n\s*TX-packets: (\d+)`)

// parse finds how many frames were sent.
func parse(text []byte) (uint64, error) {
	m := transmitted.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("testpmd printed no statistics: %q", words.Excerpt(text))
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("testpmd sent nothing: %q", words.Excerpt(text))
	}
	return n, nil
}
