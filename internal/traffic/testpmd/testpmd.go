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
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

const (
	// fcs is the frame check sequence, which RFC 2544 counts and testpmd does not.
	fcs = 4
	// smallest frame of RFC 2544, which is sent where nobody says.
	smallest = 64
	// headers of Ethernet, IPv4 and UDP.
	headers = 14 + 20 + 8
	// settle is how long frames under way are waited for (RFC 2544 §23).
	settle = 2 * time.Second
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
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS+settle.Seconds())
	defer cancel()
	way, err := exitOf(job)
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
	var before uint64
	arrives := func() bool { before, err = count.Read(); return err != nil || before > 0 }
	if err := errors.Join(p.Until(ctx, arrives, "nothing of what it sends arrives"), err); err != nil {
		return traffic.Sample{}, err
	}
	return measure(ctx, job, p, count)
}

// measure counts for the trial's length, and then until frames under way arrived.
func measure(ctx context.Context, job traffic.Job, p *traffic.Process, count *traffic.Counter) (traffic.Sample, error) {
	before, err := count.Read()
	if err != nil {
		return traffic.Sample{}, err
	}
	began := time.Now()
	if err := p.During(ctx, time.Duration(job.Condition.DurationS*float64(time.Second))); err != nil {
		return traffic.Sample{}, err
	}
	after, err := count.Read()
	took := time.Since(began)
	if err = errors.Join(err, p.Stop(ctx)); err != nil {
		return traffic.Sample{}, err
	}
	time.Sleep(settle)
	arrived, err := count.Read()
	if err != nil {
		return traffic.Sample{}, err
	}
	sent, err := parse(p.Stdout())
	if err != nil {
		return traffic.Sample{}, err
	}
	rate := float64(after-before) / took.Seconds()
	size := frameSize(job.Condition)
	return traffic.Sample{Histograms: map[string]string{}, Raw: []trial.ToolOutput{p.Output()}, Metrics: map[string]float64{
		"forwarding_rate_pps": rate, "goodput_bps": rate * 8 * float64(size-fcs-headers),
		"loss_ratio": max(0, 1-float64(arrived)/float64(sent)), "sent_packets": float64(sent),
	}}, nil
}

// exitOf the client towards the server.
func exitOf(job traffic.Job) (traffic.Exit, error) {
	h, err := netns.Open(job.ClientNetns)
	if err != nil {
		return traffic.Exit{}, err
	}
	defer h.Close()
	return traffic.ExitTo(h, job.Address, "")
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
	return traffic.Bound(job.Condition.Affinity, []string{"env", "RUNTIME_DIRECTORY=" + dir, "dpdk-testpmd", "--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf",
		"--vdev=net_af_packet0,iface=" + w.Device.Attrs().Name, "--lcores", "(0,1)@(" + cores(job.Condition.Affinity) + ")", "--",
		"--forward-mode=txonly", "--auto-start", "--stats-period=3600", "--total-num-mbufs=4096",
		"--txpkts=" + strconv.Itoa(frameSize(job.Condition)-fcs), "--eth-peer=0," + w.ToMAC.String(),
		"--tx-ip=" + w.From.String() + "," + job.Address.String(), "--tx-udp=" + port + "," + port})
}

var transmitted = regexp.MustCompile(`Accumulated forward statistics[^\n]*\n[^\n]*\n\s*TX-packets: (\d+)`)

// parse finds how many frames were sent.
func parse(text []byte) (uint64, error) {
	m := transmitted.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("testpmd printed no statistics: %q", traffic.Excerpt(text))
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("testpmd sent nothing: %q", traffic.Excerpt(text))
	}
	return n, nil
}
