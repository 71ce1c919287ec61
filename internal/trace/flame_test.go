package trace

import (
	"debug/elf"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
)

func sampleProfile() Profile {
	return Profile{Chain: "edge", DurationS: 2, Frequency: 499, Samples: 100, Idle: 7, Stacks: []Stack{
		{Hop: "fw", Command: "ksoftirqd/0", Frames: []string{"net_rx_action", "ip_forward"}, Samples: 60},
		{Hop: "fw", Command: "ksoftirqd/0", Frames: []string{"net_rx_action"}, Samples: 10},
		{Command: "a;b<c>", Frames: []string{"main", "[lib&so]"}, Samples: 30},
	}}
}

func TestFolded(t *testing.T) {
	var b strings.Builder
	if err := sampleProfile().Folded(&b); err != nil {
		t.Fatal(err)
	}
	const want = "fw;ksoftirqd/0;net_rx_action;ip_forward 60\nfw;ksoftirqd/0;net_rx_action 10\nelsewhere;a,b<c>;main;[lib&so] 30\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestTree(t *testing.T) {
	root := sampleProfile().tree()
	if root.samples != 100 || root.depth() != 5 || len(root.calls) != 2 || root.calls[1].name != "fw" || root.calls[1].samples != 70 {
		t.Errorf("%+v", root)
	}
	own := map[string]uint64{}
	root.innermost(own)
	if len(own) != 3 || own["ip_forward"] != 60 || own["net_rx_action"] != 10 || own["[lib&so]"] != 30 {
		t.Errorf("innermost %v", own)
	}
}

// TestSVG: the picture is well-formed whatever functions are called, and the widths
// are the shares.
func TestSVG(t *testing.T) {
	for _, p := range []Profile{sampleProfile(), {Chain: "<none>"}} {
		var b strings.Builder
		if err := p.SVG(&b); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, b.String())
			}
		}
		if p.Samples == 0 {
			continue
		}
		for _, want := range []string{"<title>ip_forward: 60 samples, 60.00%</title>", `width="720.00"`, "<title>a,b&lt;c&gt;: 30 samples, 30.00%</title>"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %s in\n%s", want, b.String())
			}
		}
	}
}

func TestProfileText(t *testing.T) {
	var b strings.Builder
	if err := sampleProfile().Text(&b); err != nil {
		t.Fatal(err)
	}
	const want = `chain edge, 2 s: 100 samples at work, 7 idle, 499 Hz on each core

fw: 70.0%
   60.0%  ip_forward
   10.0%  net_rx_action

elsewhere: 30.0%
   30.0%  [lib&so]
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestProgramsAreNamed: this test's own binary, which may be stripped of its names.
func TestProgramsAreNamed(t *testing.T) {
	p := newPrograms()
	address := uint64(reflect.ValueOf(TestProgramsAreNamed).Pointer())
	if got := p.name(os.Getpid(), address+1); !strings.HasSuffix(got, ".TestProgramsAreNamed") && got != "[trace.test]" {
		t.Errorf("this test is %q", got)
	}
	if got := p.name(os.Getpid(), 1); got != "[unknown]" {
		t.Errorf("nothing is %q", got)
	}
	if got := p.name(-1, address); got != "[unknown]" {
		t.Errorf("in no process: %q", got)
	}
}

func TestFunctionsOfAnImage(t *testing.T) {
	i := image{
		functions: []function{{0x1100, 0x1180, "first"}, {0x1200, 0x1210, "second"}},
		parts:     []elf.ProgHeader{{Off: 0, Vaddr: 0, Filesz: 0x10}, {Off: 0x100, Vaddr: 0x1100, Filesz: 0x1000}},
	}
	for offset, want := range map[uint64]string{0x100: "first", 0x17f: "first", 0x180: "", 0x205: "second", 0x210: "", 0x5: "", 0x9000: ""} {
		if got := i.at(offset); got != want {
			t.Errorf("at %#x: %q, want %q", offset, got, want)
		}
	}
}

func TestParseMaps(t *testing.T) {
	all := parseMaps("00400000-00500000 r-xp 00001000 fe:01 12 /usr/bin/my program\n7f00-7f10 rw-p 0 0:0 0 /lib/data\n7ff0-7fff r-xp 00000000 00:00 0\nrubbish\n")
	if len(all) != 1 || all[0] != (mapping{0x400000, 0x500000, 0x1000, "/usr/bin/my program"}) {
		t.Errorf("%+v", all)
	}
}
