package plot

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

func flame() Flame {
	f := Flame{ID: "flame", Title: "chain <edge>", Description: "Where the cores were.", Unit: "samples",
		Root:   Frame{Name: "all", Value: 1000, Shade: Dark},
		Shades: map[Shade]string{Dark: "node", Blank: "process", Light: "program", Middle: "kernel"}}
	for _, stack := range []struct {
		words string
		count int
	}{{"client;iperf3;write;tcp_sendmsg;copy_from_user", 400}, {"client;iperf3;write;tcp_sendmsg", 199}, {"fw;swapper;net_rx_action;nft_do_chain<a&b>", 400}, {"fw;swapper;too_narrow", 0}} {
		at := &f.Root
		for i, word := range strings.Split(stack.words, ";") {
			shade := []Shade{Dark, Blank, Light, Middle, Middle}[i]
			at = at.Child(word, shade)
			at.Value += stack.count
		}
	}
	return f
}

func TestFlameIsAsDrawn(t *testing.T) {
	svg := flame().SVG()
	name := filepath.Join("testdata", "flame.svg")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if svg != string(want) {
		t.Errorf("the flame graph is not as it was; see what -update changes:\n%s", svg)
	}
}

// TestFlameBoxes: one for each frame that is wide enough, with its count, and a frame
// that two stacks have is one.
func TestFlameBoxes(t *testing.T) {
	svg := flame().SVG()
	n := elements(t, svg)
	if boxes := n["title"] - 1; boxes != 10 {
		t.Errorf("%d boxes, want 10: all, two nodes, two processes, five functions", boxes)
	}
	for _, want := range []string{"<title>tcp_sendmsg: 599 samples, 59.90%</title>", "nft_do_chain&lt;a&amp;b&gt;: 400 samples, 40.00%", ">process<", "chain &lt;edge&gt;"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(svg, "too_narrow") {
		t.Error("a box of nothing is drawn")
	}
	elements(t, Flame{ID: "none"}.SVG())
}

// TestFlameZooms by a script that is of the graph alone: the same whatever the names are, it
// asks nothing of elsewhere, and each box carries what it needs.
func TestFlameZooms(t *testing.T) {
	svg := flame().SVG()
	if n := elements(t, svg)["script"]; n != 1 || strings.Count(svg, zoom) != 1 || strings.Count(svg, "data-row=") != 10 {
		t.Errorf("%d scripts", n)
	}
	for _, bad := range []string{"innerHTML", "eval", "http:", "fetch", "]]>", "</script"} {
		if strings.Contains(strings.ReplaceAll(zoom, "http://www.w3.org/2000/svg", ""), bad) {
			t.Errorf("the script has %s", bad)
		}
	}
	evil := Flame{ID: "evil", Root: Frame{Name: `"><script>alert(1)</script>]]>`, Value: 1}}.SVG()
	if n := elements(t, evil); n["script"] != 1 {
		t.Errorf("a name becomes %d elements", n["script"]-1)
	}
}

// TestShadesDifferWithoutColour: none names a colour, and no two are alike.
func TestShadesDifferWithoutColour(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range shades {
		if seen[s] || strings.Contains(s, "#") {
			t.Errorf("shade %s", s)
		}
		seen[s] = true
	}
}

func TestFitting(t *testing.T) {
	for wide, want := range map[float64]string{100: "tcp_sendmsg", 40: "tcp_s…", 12: "", 0: ""} {
		if got := fitting("tcp_sendmsg", wide); got != want {
			t.Errorf("in %v: %q, want %q", wide, got, want)
		}
	}
}
