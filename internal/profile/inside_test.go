package profile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// written is a record as the kernel writes it.
func written(kind uint32, fields ...any) []byte {
	var b bytes.Buffer
	for _, f := range fields {
		_ = binary.Write(&b, binary.NativeEndian, f) // into memory
	}
	h := binary.NativeEndian.AppendUint32(nil, kind)
	h = binary.NativeEndian.AppendUint16(h, 0)
	h = binary.NativeEndian.AppendUint16(h, uint16(headerSize+b.Len()))
	return append(h, b.Bytes()...)
}

func taken(b []byte) (all []record, lost uint64) {
	lost = parseRecord(b, func(r record) { all = append(all, r) })
	return all, lost
}

func TestRecords(t *testing.T) {
	kernel, user, guest := int64(-128), int64(-512), int64(-2048)
	chain := []any{uint32(7), uint32(8), uint32(1), uint32(0), uint64(6), kernel, uint64(0xffffffff81000001), user, uint64(0x401000), guest, uint64(5)}
	want := sample{pid: 7, tid: 8, cpu: 1, kernel: []uint64{0xffffffff81000001}, user: []uint64{0x401000}}
	if got, _ := taken(written(unix.PERF_RECORD_SAMPLE, chain...)); len(got) != 1 || !reflect.DeepEqual(*got[0].sample, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want.whom = &whom{11, 12, 1, 7}
	if got, _ := taken(written(unix.PERF_RECORD_SAMPLE, append(chain, uint32(16), uint32(11), uint32(12), uint32(1), uint32(7))...)); len(got) != 1 || !reflect.DeepEqual(*got[0].sample, want) {
		t.Errorf("with whom: got %+v, want %+v", got, want)
	}
	symbol := kernelSymbol{0x1000, 64, "bpf_prog_x"}
	if got, _ := taken(written(unix.PERF_RECORD_KSYMBOL, uint64(0x1000), uint32(64), uint16(1), uint16(0), []byte("bpf_prog_x\x00\x00"))); len(got) != 1 || *got[0].symbol != symbol {
		t.Errorf("got %+v", got)
	}
	if got, lost := taken(written(unix.PERF_RECORD_LOST, uint64(3), uint64(21))); got != nil || lost != 21 {
		t.Errorf("%v, %d lost", got, lost)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(written(unix.PERF_RECORD_SAMPLE, uint32(7), uint32(8), uint32(1), uint32(0), uint64(2), int64(-128), uint64(9), uint32(16), uint32(1), uint32(2), uint32(3), uint32(4)))
	f.Add(written(unix.PERF_RECORD_KSYMBOL, uint64(0x1000), uint32(64), uint32(0), []byte("name")))
	f.Add(written(unix.PERF_RECORD_LOST, uint64(3)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headerSize {
			return
		}
		all, _ := taken(b)
		for _, r := range all {
			if (r.sample == nil) == (r.symbol == nil) {
				t.Errorf("%+v is both or none", r)
			}
			if s := r.sample; s != nil && 8*(len(s.kernel)+len(s.user)) > len(b) {
				t.Errorf("more addresses than were written: %+v", s)
			}
		}
	})
}

// TestRingGoesRound: a record may begin at the end of a ring and go on at its beginning.
func TestRingGoesRound(t *testing.T) {
	if got := wrapped([]byte("cd____ab"), 14, 4); string(got) != "abcd" {
		t.Errorf("%q", got)
	}
	if got := wrapped([]byte("abcd____"), 8, 4); string(got) != "abcd" {
		t.Errorf("%q", got)
	}
}

const someMaps = `556c2e40f000-556c2e411000 r--p 00000000 fe:00 247026                     /usr/bin/cat
556c2e411000-556c2e416000 r-xp 00002000 fe:00 247026                     /usr/bin/a cat (deleted)
7f0000000000-7f0000001000 r-xp 00000000 00:00 0
7ffd04dd1000-7ffd04dd3000 r-xp 00000000 00:00 0                          [vdso]
rubbish
`

func TestMaps(t *testing.T) {
	i := &image{maps: parseMaps(someMaps)}
	want := []mapping{
		{0x556c2e411000, 0x556c2e416000, 0x2000, "/usr/bin/a cat", fileID{"fe:00", 247026}},
		{0x7f0000000000, 0x7f0000001000, 0, "", fileID{}},
		{0x7ffd04dd1000, 0x7ffd04dd3000, 0, "[vdso]", fileID{}},
	}
	if !reflect.DeepEqual(i.maps, want) {
		t.Errorf("got %+v, want %+v", i.maps, want)
	}
	for address, path := range map[uint64]string{0x556c2e411000: "/usr/bin/a cat", 0x556c2e415fff: "/usr/bin/a cat", 0x7ffd04dd1001: "[vdso]"} {
		if m := i.mapping(address); m == nil || m.path != path {
			t.Errorf("%x is in %+v, want %s", address, m, path)
		}
	}
	for _, address := range []uint64{0, 0x556c2e416000, 1 << 63} {
		if m := i.mapping(address); m != nil {
			t.Errorf("%x is in %+v", address, m)
		}
	}
}

func FuzzMaps(f *testing.F) {
	f.Add(someMaps)
	f.Fuzz(func(t *testing.T, text string) {
		i := &image{maps: parseMaps(text)}
		for n, m := range i.maps {
			if found := i.mapping(m.low); found == nil || *found != m || m.low >= m.high || n > 0 && m.low < i.maps[n-1].high {
				t.Errorf("mapping %d, %+v, is not where it says: found %+v", n, m, found)
			}
		}
	})
}

// TestFunctionsOfThisProgram reads the program of the test itself, as it is and
// stripped.
func TestFunctionsOfThisProgram(t *testing.T) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	fs := readFunctions(f)
	offset, name := uint64(0), "readFunctions"
	for _, fn := range fs.all {
		if strings.HasSuffix(fn.name, "."+name) {
			for _, p := range fs.loads {
				if fn.low >= p.Vaddr && fn.low < p.Vaddr+p.Filesz {
					offset = fn.low - p.Vaddr + p.Off
				}
			}
		}
	}
	if got := fs.at(offset + 1); offset == 0 || !strings.HasSuffix(got, "."+name) {
		t.Errorf("at %x is %q", offset+1, got)
	}
	if got := fs.at(1 << 60); got != "" {
		t.Errorf("outside is %q", got)
	}
	if fs := readFunctions(strings.NewReader("no program")); fs.at(0) != "" {
		t.Errorf("%+v", fs)
	}
}

func TestFunctionsWithinFunctions(t *testing.T) {
	fs := &functions{all: []function{{0, 100, "outer"}, {10, 20, "inner"}, {30, 40, "other"}}}
	for address, want := range map[uint64]string{5: "outer", 15: "inner", 25: "outer", 35: "other", 99: "outer", 100: ""} {
		if got := fs.holding(address); got != want {
			t.Errorf("%d is in %q, want %q", address, got, want)
		}
	}
}

func TestKernelNames(t *testing.T) {
	k := &kernelSymbols{begun: procfs.KernelSymbols{{Address: 100, Name: "first"}, {Address: 200, Name: "second"}}, since: []kernelSymbol{{300, 10, "loaded"}}}
	for address, want := range map[uint64]string{50: Unknown, 150: "first", 305: "loaded", 310: "second"} {
		if got := k.at(address); got != want {
			t.Errorf("%d is in %q, want %q", address, got, want)
		}
	}
}

func frames(kernel bool, names ...string) (all []Frame) {
	for _, n := range names {
		all = append(all, Frame{n, kernel})
	}
	return all
}

// seen is a chain of three nodes in which the firewall has most of the softirqs.
func seen() (Chain, Samples) {
	softirq := append(frames(false, "main"), frames(true, "write", "handle_softirqs", "net_rx_action", "nft_do_chain")...)
	return Chain{Name: "edge", Wiring: "veth", Nodes: []Node{{Name: "client"}, {Name: "fw", Kind: "firewall"}, {Name: "server"}}},
		Samples{Clock: CPUClock, Frequency: 100, ByHop: true, Seconds: 1, Cores: []int{0, 1}, Lost: 2, Stacks: []Stack{
			{0, "client", "iperf3", append(frames(false, "main"), frames(true, "write", "write")...), 20},
			{0, "fw", "iperf3", softirq, 50},
			{1, "fw", "iperf3", softirq, 10},
			{1, Outside, "a;b", frames(false, "loop"), 10},
			{0, Idle, "swapper", frames(true, "default_idle"), 30},
			{1, Idle, "swapper", frames(true, "default_idle"), 60},
		}}
}

func TestReport(t *testing.T) {
	r := NewReport(seen())
	if r.Samples != 180 || r.Busy != 90 || r.Lost != 2 {
		t.Errorf("%d samples, %d busy, %d lost", r.Samples, r.Busy, r.Lost)
	}
	if c := r.Cores[1]; c.Busy.Samples != 20 || c.Busy.Ratio != .25 || c.Busy.CI95[0] > .25 || c.Busy.CI95[1] < .25 || c.Functions[0].Self.Ratio != .5 {
		t.Errorf("core 1: %+v", c)
	}
	if h := r.Hops[1]; h.Name != "fw" || h.Samples != 60 || h.Softirq != 60 || h.Functions[0].Name != "nft_do_chain" {
		t.Errorf("fw: %+v", h)
	}
	if f := r.All[0]; f.Name != "nft_do_chain" || f.Self.Samples != 60 || f.Total.Samples != 60 {
		t.Errorf("first: %+v", f)
	}
	for _, f := range r.All {
		if f.Name == "write" && (f.Self.Samples != 20 || f.Total.Samples != 80) {
			t.Errorf("a function that calls itself: %+v", f)
		}
	}
	warnings := strings.Join(r.Warnings, "\n")
	for _, want := range []string{"2 samples were lost", "no hardware counters"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no warning of %q: %s", want, warnings)
		}
	}
	if empty := NewReport(Chain{}, Samples{Seconds: 1, Clock: CPUClock, Frequency: 9, Cores: []int{0}}); empty.Cores[0].Busy.CI95 != [2]float64{0, 1} || !strings.Contains(empty.Warnings[0], "0 samples of 9") {
		t.Errorf("of nothing: %+v", empty)
	}
}

func TestTextOfAReport(t *testing.T) {
	r := NewReport(seen())
	r.Condition = &trial.Condition{Protocol: trial.TCP, Tool: "iperf3"}
	r.Overhead = &Overhead{Metric: "goodput_bps", Pairs: 3, Ratio: .98, CI95: &[2]float64{.95, 1.01}}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"chain edge, wiring veth: tcp by iperf3, 1 s sampled at 100 Hz (cpu-clock), 180 samples, 90 of them busy\n",
		"\nfw         66.7%  55.9 to 76.3%  100%        nft_do_chain\n",
		"\nserver     0.0%   0.0 to 4.0%    -\n",
		"\nloop (user)      11.1%  5.5 to 19.5%   11.1%  5.5 to 19.5%\n",
		"\ncore 1: busy 25.0% (16.0 to 35.9%)\n",
		"\ncost of sampling: goodput_bps with it is 98.0% of that without, by 3 pairs of trials (95%: 95.0 to 101.0%)\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	_, s := seen()
	s.Cores = nil
	for cpu := range 10 {
		s.Cores = append(s.Cores, cpu)
	}
	b.Reset()
	if err := NewReport(Chain{}, s).Text(&b); err != nil || !strings.Contains(b.String(), "2 cores were less busy") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestFolded(t *testing.T) {
	_, s := seen()
	var b strings.Builder
	if err := merged(s).Folded(&b); err != nil {
		t.Fatal(err)
	}
	const want = `(outside);a:b;loop 10
client;iperf3;main;write_[k];write_[k] 20
fw;iperf3;main;write_[k];handle_softirqs_[k];net_rx_action_[k];nft_do_chain_[k] 60
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestSamplesOfTrialsAddUp.
func TestSamplesOfTrialsAddUp(t *testing.T) {
	_, a := seen()
	_, b := seen()
	a.Warnings, b.Warnings = []string{"x"}, []string{"x", "y"}
	all := Samples{}
	all.Add(a)
	all.Add(b)
	if count(all.Stacks) != 360 || len(all.Stacks) != 6 || all.Seconds != 2 || all.Lost != 4 || fmt.Sprint(all.Warnings) != "[x y]" {
		t.Errorf("%+v", all)
	}
}

// TestHop: a packet's namespace comes before the process that was interrupted for it.
func TestHop(t *testing.T) {
	s := &Sampler{nodes: map[uint32]string{1: "client", 2: "fw"}}
	softirq := frames(true, "handle_softirqs")
	for want, c := range map[string]struct {
		sample
		frames []Frame
	}{
		"client": {sample{pid: 9, whom: &whom{task: 1}}, frames(true, "write")},
		"fw":     {sample{pid: 9, whom: &whom{task: 1, device: 2, softirq: 1}}, softirq},
		Softirq:  {sample{pid: 9, whom: &whom{task: 1}}, softirq},
		Outside:  {sample{pid: 9, whom: &whom{task: 7}}, frames(true, "idle")},
		Idle:     {sample{whom: &whom{task: 7}}, frames(true, "default_idle")},
	} {
		if got := s.hop(&stack{sample: c.sample}, c.frames); got != want {
			t.Errorf("%+v counts for %s, want %s", c, got, want)
		}
	}
	if got := s.hop(&stack{sample: sample{whom: &whom{device: 7, softirq: 1}}}, nil); got != Softirq {
		t.Errorf("a packet of others counts for %s", got)
	}
}
