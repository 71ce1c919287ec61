package builtin

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// BenchmarkOneVeth measures what stamps and bins cost: a second of 64-byte frames with
// them, and one without, in turns. Rates by CPU time leave out what else ran.
func BenchmarkOneVeth(b *testing.B) {
	nstest.Require(b, feature.Root, feature.BPFXDP)
	var whole, bare, wholeCore, bareCore float64
	for range b.N {
		pps, core := rate(b, false)
		whole, wholeCore = whole+pps, wholeCore+core
		pps, core = rate(b, true)
		bare, bareCore = bare+pps, bareCore+core
	}
	n := float64(b.N)
	b.ReportMetric(whole/n, "pps")
	b.ReportMetric(wholeCore/n, "pps/core")
	b.ReportMetric(bareCore/n, "bare-pps/core")
	b.ReportMetric(whole/bare, "share")
	b.ReportMetric(wholeCore/bareCore, "share/core")
}

// rate of packets that arrive, by time and by CPU time.
func rate(b *testing.B, bare bool) (pps, perCore float64) {
	b.Helper()
	bench, done, err := traffic.Workbench(true)
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	e := endsOf(bench)
	l := load{drain: drainLimit, headers: headers{to: e.address, signature: rand.Uint32()}, pace: pace{burst: 1, duration: time.Second},
		sizes: []int{64}, flows: 1, port: 9, core: coreOf("", 0), bare: bare}
	lanes, err := openLanes(e, l, trial.Condition{})
	defer closeLanes(lanes)
	if err != nil {
		b.Fatal(err)
	}
	o, err := runLanes(context.Background(), lanes)
	if err != nil {
		b.Fatal(err)
	}
	arrived := float64(o[0].Count.Packets)
	return arrived / o[0].seconds(), arrived / o[0].busy.Seconds()
}
