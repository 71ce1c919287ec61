package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// command runs nfchain in this process.
func command(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(env{args: append([]string{"nfchain"}, args...), stdin: strings.NewReader(""), stdout: &out, stderr: &err,
		getenv: func(string) string { return "" }, now: time.Now})
	return code, out.String(), err.String()
}

func TestGenRefuses(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"--dev x", "dst"}, {"--dst 192.0.2.1", "dev"}, {"--dev x --dst nowhere", `--dst: "nowhere" is not an address`},
		{"--dev x --dst 192.0.2.1 --src me", "--src"}, {"--dev x --dst 192.0.2.1 --dst-mac 1", "--dst-mac"},
		{"--dev x --dst 192.0.2.1 --rate fast", "--rate"}, {"--dev x --dst 192.0.2.1 --frame-size 63", "64 to 9216"},
		{"--dev x --dst 192.0.2.1 --imix q", "IMIX"}, {"--dev x --dst 192.0.2.1 --imix a --frame-size 64", "not both"},
		{"--dev x --dst 192.0.2.1 --frame-size 0", "--frame-size: 0"}, {"--dev x --dst 192.0.2.1 --rate 0", "--rate: 0"},
		{"--dev x --dst 192.0.2.1 --flows-by luck", "addresses or both"},
		{"--dev x --dst 192.0.2.1 --flows 4 --flows-by both --destinations 3", "--destinations: flows go to 1, 2, 4"},
		{"--dev x --dst 192.0.2.1 --flows 4 --destinations 4", "addresses, or both"}, {"--dev x --dst 192.0.2.1 --destinations 0", "--destinations: 0"},
		{"--dev x --dst 192.0.2.1 --flows 4 --flows-by both --destinations 512", "256"},
		{"--dev x --dst 192.0.2.1 --flows 4 --flows-by addresses --destinations 8", "4 flows cannot go to 8"},
		{"--dev x --dst 255.255.255.254 --flows 4 --flows-by both --destinations 4", "are not there"},
		{"--dev x --dst 192.0.2.1 --dst-mac x", "is not a link-layer address"}, {"--dev x --dst 192.0.2.1 --pattern odd", "poisson"}, {"--dev x --dst 192.0.2.1 --flows 0", "flows"},
		{"--dev x --dst 192.0.2.1 --affinity 4095", "no core 4095"}, {"--dev x --dst 192.0.2.1 --affinity foo", `"foo" is not an affinity`},
		{"--dev x --dst 192.0.2.1 --port 70000", "--port: 1 flow can go to port 1 to 65535, not 70000"}, {"--dev x --dst 192.0.2.1 --port -1", "--port"},
		{"--dev x --dst 192.0.2.1 --port 65535 --flows 20000", "1 to 65534"}, {"--dev x --dst 192.0.2.1 -o xml", "xml"},
	} {
		code, out, err := command(append([]string{"gen"}, strings.Fields(c.args)...)...)
		if code != exitInput || out != "" || !strings.Contains(err, c.says) {
			t.Errorf("gen %s: exit code %d, %q, %q; want %d and a word of %q", c.args, code, out, err, exitInput, c.says)
		}
	}
}

// TestNoSuchPlace: an interface or a namespace that is not there is wrong input.
func TestNoSuchPlace(t *testing.T) {
	nstest.Root(t)
	for _, c := range []struct{ args, says string }{
		{"meter --dev e2enone", `--dev: there is no interface "e2enone" in this namespace`},
		{"gen --dev e2enone --dst 198.18.0.1", `--dev: there is no interface "e2enone" in this namespace`},
		{"gen --dev e2enone --dst 198.18.0.1 --src 198.18.0.2 --dst-mac 02:00:00:00:00:01", `--dev: there is no interface "e2enone"`},
		{"meter --dev lo --netns e2enone", `--netns: there is no network namespace "e2enone"`},
		{"gen --dev lo --netns e2enone --dst 198.18.0.1", `--netns: there is no network namespace "e2enone"`},
	} {
		code, out, err := command(strings.Fields(c.args)...)
		if code != exitInput || out != "" || !strings.Contains(err, c.says) {
			t.Errorf("%s: exit code %d, %q, %q; want %d and %q", c.args, code, out, err, exitInput, c.says)
		}
	}
}

// TestGenAndMeter run the commands over a veth pair, one after the other.
func TestGenAndMeter(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFXDP)
	a, b := nstest.Namespace(t), nstest.Namespace(t)
	from, to := nstest.Open(t, a), nstest.Open(t, b)
	pair := netlink.NewVeth(netlink.LinkAttrs{Name: "eth0"})
	pair.PeerName, pair.PeerNamespace = "eth0", netlink.NsFd(to.FD())
	if err := from.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	for _, h := range []interface {
		LinkByName(string) (netlink.Link, error)
		LinkSetUp(netlink.Link) error
	}{from, to} {
		l, err := h.LinkByName("eth0")
		if err == nil {
			err = h.LinkSetUp(l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	code, out, err := command("gen", "--netns", a, "--dev", "eth0", "--src", "192.0.2.1", "--dst", "192.0.2.2",
		"--dst-mac", "02:00:00:00:00:02", "--rate", "1000pps", "--duration", "200ms", "-o", "json")
	var m measured
	if json.Unmarshal([]byte(out), &m) != nil || code != exitDone || m.Histograms["schedule_error_ns"] == "" {
		t.Fatalf("gen: exit code %d, %s%s", code, out, err)
	}
	// A machine that stalls does not send all that was due.
	if sent := m.Metrics["sent_packets"]; sent < 1 || math.Round(sent/(1-m.Metrics["unsent_ratio"])) != 200 {
		t.Errorf("gen: exit code %d, %s%s", code, out, err)
	}
	code, out, err = command("meter", "--netns", b, "--dev", "eth0", "--duration", "10ms")
	if code != exitDone || !strings.Contains(out, "received_packets  0\n") {
		t.Errorf("meter: exit code %d, %s%s", code, out, err)
	}
}
