package pktgen_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/pktgen"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

// tree has the files of a pktgen to which veth0 was added, and which does nothing.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "pgctrl", "Packet Generator for packet performance testing. Version: 2.75\n")
	for i := range runtime.NumCPU() {
		put(t, dir, fmt.Sprintf("kpktgend_%d", i), "Running: \nStopped: \nResult: NA\n")
	}
	put(t, dir, "veth0", read(t, "testdata/6.1-added.txt"))
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// written is what was appended to a file of the tree.
func written(t *testing.T, dir, name, before string) []string {
	t.Helper()
	text, ok := strings.CutPrefix(read(t, filepath.Join(dir, name)), before)
	if !ok {
		t.Fatalf("%s was overwritten: %q", name, text)
	}
	return strings.Split(strings.TrimSpace(text), "\n")
}

// threads stand for pktgen's: they send a datagram, and when they are interrupted the
// device's file has what a kernel said.
func threads(t *testing.T, dir, result string) {
	t.Helper()
	from, err := filepath.Abs("testdata/" + result)
	if err != nil {
		t.Fatal(err)
	}
	traffictest.Replace(t, "sh", `trap 'cat `+from+` > `+dir+`/veth0; exit 0' INT; `+flood+"; while :; do sleep 0.05; done")
}

// flood sends one datagram to where pktgen's go.
const flood = `bash -c 'echo x > /dev/udp/192.0.2.2/5201'`

// TestTree runs a trial over the files that a kernel had.
func TestTree(t *testing.T) {
	j := traffictest.Job(t, trial.Condition{OfferedPps: 2000, Affinity: "0"})
	dir := tree(t)
	threads(t, dir, "6.1-ended.txt")
	s, err := pktgen.Tool{Dir: dir}.Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"sent_packets": 1008, "sent_pps": 1008 / 1.01393, "offered_pps": 2000, "unsent_ratio": 1 - 1008/(2000*1.01393),
		"loss_ratio": 1 - 1/1008.0, "load_loss_ratio": 1 - 1/(2000*1.01393),
	} {
		if got := s.Metrics[name]; got < want*0.9999 || got > want*1.0001 {
			t.Errorf("%s is %v, not %v", name, got, want)
		}
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "50.29% less") {
		t.Errorf("warnings %v", s.Warnings)
	}
	if got := written(t, dir, "kpktgend_0", "Running: \nStopped: \nResult: NA\n"); len(got) != 1 || got[0] != "add_device veth0" {
		t.Errorf("thread: %q", got)
	}
	traffictest.Empty(t, j)
}

// TestCommands says what pktgen is told, load by load.
func TestCommands(t *testing.T) {
	const always = "count 0|clone_skb 0|"
	for name, c := range map[string]struct {
		condition trial.Condition
		want      string
	}{
		"smallest": {trial.Condition{}, "pkt_size 60|delay 0|dst_mac MAC|udp_src_min 1024|udp_src_max 1025|udp_dst_min 5201|udp_dst_max 5201|src_min 192.0.2.1|dst 192.0.2.2"},
		"all": {trial.Condition{Flows: 100, OfferedBps: 80e6, Frames: trial.Frames{FrameSize: 1000, VLAN: 7, Burst: 4}},
			"pkt_size 996|delay 400000|dst_mac MAC|udp_src_min 1024|udp_src_max 1124|udp_dst_min 5201|udp_dst_max 5201|src_min 192.0.2.1|dst 192.0.2.2|vlan_id 7|burst 4"},
		"IPv6": {trial.Condition{OfferedPps: 3e6, Frames: trial.Frames{IPVersion: 6}},
			"pkt_size 78|delay 333|dst_mac MAC|udp_src_min 1024|udp_src_max 1025|udp_dst_min 5201|udp_dst_max 5201|src6 2001:db8::1|dst6 2001:db8::2|flag UDPCSUM"},
	} {
		t.Run(name, func(t *testing.T) {
			j := traffictest.Job(t, c.condition)
			if c.condition.IPVersion == 6 {
				traffictest.IPv6(t, &j)
			}
			dir := tree(t)
			traffictest.Replace(t, "sh", "exit 1")
			_, _ = pktgen.Tool{Dir: dir}.Run(context.Background(), j)
			want := always + strings.Replace(c.want, "MAC", mac(t, j), 1)
			if got := strings.Join(written(t, dir, "veth0", read(t, "testdata/6.1-added.txt")), "|"); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if got := written(t, dir, "pgctrl", "Packet Generator for packet performance testing. Version: 2.75\n"); strings.Join(got, "|") != "reset|reset" {
				t.Errorf("control: %q", got)
			}
		})
	}
}

// mac of the server's interface.
func mac(t *testing.T, j traffic.Job) string {
	t.Helper()
	l, err := nstest.Open(t, j.ServerNetns).LinkByName("veth0")
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().HardwareAddr.String()
}

// TestFails has threads that pktgen's should not be like.
func TestFails(t *testing.T) {
	for name, c := range map[string]struct {
		script, want string
		seconds      float64
	}{
		"exits":     {script: "echo write error: Operation not permitted >&2; exit 1", want: "Operation not permitted"},
		"silent":    {script: "exec sleep 1000", want: "nothing of what it sends arrives"},
		"ends":      {script: flood + "; sleep 2", want: "ended before it was told to", seconds: 60},
		"no result": {script: "trap 'exit 0' INT; " + flood + "; while :; do sleep 0.05; done", want: "pktgen gave no result"},
		"nothing":   {script: "trap 'cat testdata/6.1-nothing.txt > DIR/veth0; exit 0' INT; " + flood + "; while :; do sleep 0.05; done", want: "sent nothing"},
		"vanishes":  {script: "trap 'rm DIR/veth0; exit 0' INT; " + flood + "; while :; do sleep 0.05; done", want: "read what pktgen sent"},
	} {
		t.Run(name, func(t *testing.T) {
			j := traffictest.Job(t, trial.Condition{DurationS: c.seconds})
			dir := tree(t)
			traffictest.Replace(t, "sh", strings.ReplaceAll(c.script, "DIR", dir))
			if _, err := (pktgen.Tool{Dir: dir}).Run(context.Background(), j); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, j)
		})
	}
}

// TestRefused has files that refuse what is written to them.
func TestRefused(t *testing.T) {
	for file, want := range map[string]string{
		"pgctrl": `refuses "reset" for pgctrl`, "kpktgend_0": `refuses "add_device veth0" for kpktgend_0`, "veth0": `refuses "count 0" for veth0`,
	} {
		j := traffictest.Job(t, trial.Condition{Affinity: "0"})
		dir := tree(t)
		blocked(t, filepath.Join(dir, file))
		if _, err := (pktgen.Tool{Dir: dir}).Run(context.Background(), j); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", file, err)
		}
	}
}

// blocked puts a directory, which nobody can write to, in the place of a file.
func blocked(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
}
