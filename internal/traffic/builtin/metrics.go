package builtin

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// sent, received and the rest, of all lanes together.
type totals struct {
	// seconds that the load took, and that it was meant to take; wall is of all lanes.
	seconds, meant, wall                                      float64
	sent, unsent, sentBytes                                   uint64
	arrived, unique, duplicates, reordered                    uint64
	extent, unknown, stale, early, payload, strangers, shared uint64
	damaged                                                   uint64
	latency, up, down, lateness                               [trial.Buckets]uint64
	low, high, lateMax, sum                                   uint64
	stepLow, stepHigh                                         int64
	steps                                                     uint64
	late                                                      float64 // schedule error's part of the latency
	native, cut, slow, moved                                  bool
	refused, unread                                           uint64
	busy                                                      time.Duration
	coarse                                                    time.Duration // what latencies are told to, where no variation is
	few                                                       bool          // too few packets came for all percentiles
	train                                                     bool
}

// add a lane up.
func (t *totals) add(o outcome) {
	p, c, r := &o.Progress, &o.Count, &o.Order
	t.seconds, t.meant = max(t.seconds, o.seconds()), max(t.meant, float64(p.Stop-p.Start)/1e9)
	t.sent, t.unsent, t.sentBytes = t.sent+p.Sent, t.unsent+o.Unsent, t.sentBytes+p.SentBytes
	t.arrived, t.unique, t.payload = t.arrived+c.Packets, t.unique+r.Arrivals, t.payload+c.Payload
	t.duplicates, t.reordered = t.duplicates+r.Duplicates, t.reordered+r.Reordered
	t.extent, t.unknown, t.stale = max(t.extent, r.Extent), t.unknown+r.Unknown, t.stale+r.Stale
	t.native, t.strangers, t.shared = o.Native, t.strangers+o.Strangers, t.shared+o.Shared
	t.refused, t.busy, t.wall = t.refused+o.Refused, t.busy+o.busy, t.wall+o.seconds()
	t.cut, t.moved = t.cut || o.Cut, t.moved || o.moved
	t.unread, t.slow = t.unread+o.Unread, t.slow || o.Slow
	t.damaged, t.train = t.damaged+c.Damaged, o.Load.train.frames > 0
	t.early, t.lateMax = t.early+c.Early, max(t.lateMax, p.LateMax)
	if c.Low > 0 && (t.low == 0 || c.Low < t.low) {
		t.low = c.Low
	}
	t.high, t.sum = max(t.high, c.High), t.sum+c.Sum
	t.stepLow, t.stepHigh = min(t.stepLow, c.StepLow), max(t.stepHigh, c.StepHigh)
	for b := range trial.Buckets {
		t.latency[b] += c.Latency[b]
		t.up[b] += c.Up[b]
		t.down[b] += c.Down[b]
		t.lateness[b] += o.Lateness[b]
		t.steps += c.Up[b] + c.Down[b]
	}
}

// seconds that the load took: as long as it was due, unless not all of it was sent;
// then up to the last packet.
func (o *outcome) seconds() float64 {
	p := &o.Progress
	if o.Load.train.frames > 0 {
		return o.burstSeconds()
	}
	if o.Unsent == 0 {
		return float64(p.Stop-p.Start) / 1e9
	}
	return float64(max(p.Last, p.Stop)-p.Start) / 1e9
}

// percentiles of the one-way latency, by their name; each only where as many packets
// came that it is not the maximum by another name.
var percentiles = []struct {
	name    string
	percent float64
}{
	{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p999", 99.9}, {"p9999", 99.99}, {"p99999", 99.999},
}

// sample is what lanes come to.
func sample(lanes []outcome) (s traffic.Sample, err error) {
	var t totals
	for _, o := range lanes {
		t.add(o)
	}
	s = newSample()
	if t.sent == 0 {
		return s, errNothing
	}
	t.offered(s.Metrics)
	t.rates(s.Metrics)
	s.Warnings = append(s.Warnings, flowLosses(lanes, s.Metrics)...)
	if t.unique > 0 {
		err = t.latencies(&s)
	}
	if err == nil && lanes[0].Paced {
		err = t.schedule(&s)
	}
	s.Warnings = slices.Concat(t.warnings(), s.Warnings, t.answer(lanes, s.Metrics))
	for _, o := range lanes {
		s.Warnings = append(s.Warnings, o.silent()...)
	}
	s.Series = seriesOf(lanes)
	return s, errors.Join(err, t.keep(&s))
}

// sampleSent is what a source by itself comes to.
func sampleSent(o outcome) (s traffic.Sample, err error) {
	var t totals
	t.add(o)
	s = newSample()
	if t.sent == 0 {
		return s, errNothing
	}
	t.offered(s.Metrics)
	s.Metrics["sent_packets"] = float64(t.sent)
	if o.Paced {
		err = t.schedule(&s)
	}
	s.Warnings = t.warnings()
	return s, err
}

// sampleReceived is what a sink by itself comes to. What was lost is known by the
// numbers that are missing between the first and the last; the rate is that of the
// packets after the first.
func sampleReceived(o outcome) (s traffic.Sample, err error) {
	var t totals
	t.add(o)
	s = newSample()
	m := s.Metrics
	m["received_packets"], m["damaged_packets"] = float64(t.unique), float64(t.damaged)
	if numbers := o.Order.Next - o.Order.First; numbers > 0 {
		m["loss_ratio"] = 1 - float64(t.unique)/float64(numbers)
		m["duplicate_ratio"] = float64(t.duplicates) / float64(numbers)
		t.order(m)
		err = t.latencies(&s)
	}
	if seconds := float64(o.Count.Last-o.Count.First) / 1e9; seconds > 0 {
		m["forwarding_rate_pps"] = float64(t.unique-1) / seconds
	}
	s.Warnings = t.warnings()
	return s, err
}

func newSample() traffic.Sample {
	return traffic.Sample{Metrics: map[string]float64{}, Histograms: map[string]string{}}
}

// errNothing has no number to give.
var errNothing = errors.New("the generator sent nothing")

// offered is the load as it was meant and as it was sent.
func (t *totals) offered(m map[string]float64) {
	intended := float64(t.sent + t.unsent)
	m["offered_pps"] = intended / t.meant
	m["sent_pps"] = float64(t.sent) / t.seconds
	m["unsent_ratio"] = float64(t.unsent) / intended
}

// rates are what came of the load. What was not sent is no loss of the path, but the
// load as it was meant lacks it too.
func (t *totals) rates(m map[string]float64) {
	m["forwarding_rate_pps"] = float64(t.unique) / t.seconds
	m["loss_ratio"] = 1 - float64(t.unique)/float64(t.sent)
	m["load_loss_ratio"] = 1 - float64(t.unique)/float64(t.sent+t.unsent)
	m["goodput_bps"] = float64(t.payload) * 8 / t.seconds
	m["duplicate_ratio"] = float64(t.duplicates) / float64(t.sent)
	m["damaged_ratio"] = float64(t.damaged) / float64(t.sent)
	t.order(m)
}

// order of what came (RFC 4737 sections 4.1 and 4.2).
func (t *totals) order(m map[string]float64) {
	if t.unique > 0 {
		m["reordered_ratio"] = float64(t.reordered) / float64(t.unique)
		m["reorder_extent_max"] = float64(t.extent)
	}
}

func (t *totals) latencies(s *traffic.Sample) error {
	lowest := t.low - 1 // the kernel's half counts from one
	h := trial.BucketHistogram(t.latency[:], lowest, t.high)
	m := s.Metrics
	m["one_way_latency_min_ns"], m["one_way_latency_max_ns"] = float64(lowest), float64(t.high)
	m["one_way_latency_mean_ns"] = float64(t.sum) / float64(h.TotalCount())
	for _, p := range percentiles {
		if enough(h, p.percent) {
			m["one_way_latency_"+p.name+"_ns"] = min(trial.Percentile(h, p.percent), float64(t.high))
		}
	}
	if t.few = !enough(h, 99.9); !t.few { // RFC 8219 §7.3.1
		t.variation(m, min(trial.Percentile(h, 99.9), float64(t.high)), float64(lowest))
	}
	if t.steps > 0 {
		m["ipdv_min_ns"], m["ipdv_max_ns"] = float64(t.stepLow), float64(t.stepHigh)
		m["ipdv_median_ns"] = signedMedian(t.down[:], t.up[:])
	}
	text, err := trial.EncodeHistogram(h)
	s.Histograms["one_way_latency_ns"] = text
	return err
}

// variationError is the largest part of a delay variation that it may be wrong by.
const variationError = 0.1

// variation is the difference of two latencies, where it is not lost in the width of the
// bucket that the higher one lies in.
func (t *totals) variation(m map[string]float64, high, lowest float64) {
	from, above := trial.BucketBounds(trial.Bucket(uint64(high)))
	off := float64(above-from) / 2
	if high-lowest == 0 || off <= variationError*(high-lowest) {
		m["pdv_ns"] = high - lowest
		return
	}
	t.coarse = time.Duration(off)
}

// enough values to speak of a percentile: one at least lies above it.
func enough(h *hdrhistogram.Histogram, percent float64) bool {
	return float64(h.TotalCount())*(100-percent) >= 100*(1-1e-9) // 100 - 99.9 is a little less than 0.1
}

func (t *totals) schedule(s *traffic.Sample) error {
	h := trial.BucketHistogram(t.lateness[:], 0, t.lateMax)
	s.Metrics["schedule_error_p50_ns"] = trial.Percentile(h, 50)
	s.Metrics["schedule_error_max_ns"] = float64(t.lateMax)
	if enough(h, 99) {
		s.Metrics["schedule_error_p99_ns"] = min(trial.Percentile(h, 99), float64(t.lateMax))
		t.late = share(s.Metrics["schedule_error_p99_ns"], s.Metrics["one_way_latency_p99_ns"])
	}
	text, err := trial.EncodeHistogram(h)
	s.Histograms["schedule_error_ns"] = text
	return err
}

// lateShare of the 99th percentile of the latency above which the generator's own
// delay is told.
const lateShare = 0.1

func share(part, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return min(part/of, 1)
}

// signedMedian is the middle of values whose sizes are counted apart by sign.
func signedMedian(down, up []uint64) float64 {
	var below, above uint64
	for b := range down {
		below += down[b]
		above += up[b]
	}
	half := (below + above) / 2
	if below > half {
		return -float64(nth(down, below-1-half))
	}
	return float64(nth(up, half-below))
}

func (t *totals) warnings() (w []string) {
	if t.unsent > 0 {
		w = append(w, fmt.Sprintf("the generator did not send %d packets of %d in time: the load was not what was asked for; it had its core for %.0f%% of the time",
			t.unsent, t.sent+t.unsent, 100*min(1, t.busy.Seconds()/t.wall)))
	}
	if t.late > lateShare {
		w = append(w, fmt.Sprintf("the generator was late: what one packet in a hundred waited to be sent is %.0f%% of the p99 latency, which counts from when it was due", 100*t.late))
	}
	if t.shared > 0 {
		w = append(w, fmt.Sprintf("%.0f%% of the packets reached the meter on the core that generates them: generator and chain shared it, and each took from the other", 100*float64(t.shared)/float64(t.arrived)))
	}
	if t.moved {
		w = append(w, "the core of the generator was taken away while it sent: it went on on others, and how much it shared with the chain is not known")
	}
	if t.refused > 0 {
		w = append(w, fmt.Sprintf("%d packets were lost at the first interface, whose far side had no room for them", t.refused))
	}
	if t.slow {
		w = append(w, "the meter is a packet socket, because BPF is refused: its ceiling is lower, and the times of packets are those at which a program read them")
	}
	if t.unread > 0 {
		w = append(w, fmt.Sprintf("%d packets came and were not counted, because the meter had no room for them: they are in the loss", t.unread))
	}
	if t.damaged > 0 {
		w = append(w, fmt.Sprintf("%d packets came damaged, with a checksum that is not theirs; they count as lost", t.damaged))
	}
	if t.stale > 0 {
		w = append(w, fmt.Sprintf("%d packets came too late to tell first copies from second ones; they count as lost", t.stale))
	}
	if t.unknown > 0 {
		w = append(w, fmt.Sprintf("%d reordered packets came too late to tell by how much; the extent leaves them out", t.unknown))
	}
	if t.cut {
		w = append(w, fmt.Sprintf("packets still came when the wait for them ended, %v after the load and what the path always takes: those that came later count as lost", drainLimit))
	}
	if t.coarse > 0 {
		w = append(w, fmt.Sprintf("the delay variation (PDV) is left out: latencies as long as these are told to ±%v only, and it is little more or less; see ipdv", t.coarse))
	}
	if t.few && !t.train { // a train of frames is as long as was asked for
		w = append(w, fmt.Sprintf("%d packets are too few for all percentiles: those that less than one packet lies above are left out, and the delay variation (PDV), which is up to p99.9", t.unique))
	}
	if t.steps > 0 && t.reordered > 0 {
		w = append(w, fmt.Sprintf("the differences of neighbours (IPDV) are of the %d pairs that were sent and came one after the other: those that packets out of order came between are left out", t.steps))
	}
	if t.early > 0 {
		w = append(w, fmt.Sprintf("%d packets came before they were due: the clock went back, and their latency counts as zero", t.early))
	}
	return w
}
