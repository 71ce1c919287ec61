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
		pps, core := rate(b, load{flows: 1})
		whole, wholeCore = whole+pps, wholeCore+core
		pps, core = rate(b, load{flows: 1, bare: true})
		bare, bareCore = bare+pps, bareCore+core
	}
	n := float64(b.N)
	b.ReportMetric(whole/n, "pps")
	b.ReportMetric(wholeCore/n, "pps/core")
	b.ReportMetric(bareCore/n, "bare-pps/core")
	b.ReportMetric(whole/bare, "share")
	b.ReportMetric(wholeCore/bareCore, "share/core")
}

// BenchmarkFlows measures what flows cost that differ in their addresses, by CPU time: a
// second of each rule, against one flow, in turns.
func BenchmarkFlows(b *testing.B) {
	nstest.Require(b, feature.Root, feature.BPFXDP)
	rules := []string{trial.FlowsByPorts, trial.FlowsByAddresses, trial.FlowsByBoth}
	var one float64
	each := make([]float64, len(rules))
	for range b.N {
		_, core := rate(b, load{flows: 1})
		one += core
		for i, rule := range rules {
			_, core := rate(b, load{flows: maxSources, headers: headers{variety: varietyOf(rule)}})
			each[i] += core
		}
	}
	b.ReportMetric(one/float64(b.N), "pps/core")
	for i, rule := range rules {
		b.ReportMetric(each[i]/one, rule+"-share")
	}
}

// rate of packets of a kind of load that arrive, by time and by CPU time.
func rate(b *testing.B, l load) (pps, perCore float64) {
	b.Helper()
	bench, done, err := traffic.Workbench(true)
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	e := endsOf(bench)
	l.drain, l.to, l.signature, l.pace = drainLimit, e.address, rand.Uint32(), pace{burst: 1, duration: time.Second}
	l.sizes, l.port, l.core = []int{64}, 9, coreOf("", 0)
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
