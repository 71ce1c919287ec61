package iperf3

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

func captured(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// read is what a pair's output comes to.
func read(client, server []byte, protocol string) (flow, error) {
	c, err := parse(client)
	if err != nil {
		return flow{}, err
	}
	s, err := parse(server)
	if err != nil {
		return flow{}, err
	}
	return count(c, s, protocol)
}

// TestCount checks, on what iperf3 3.12 and 3.18 printed, that goodput is the server's and
// that loss is what the client sent and the server did not get.
func TestCount(t *testing.T) {
	for _, c := range []struct {
		name, protocol string
		want           map[string]float64
	}{
		{"3.12-tcp", trial.TCP, map[string]float64{"goodput_bps": 2451308544 * 8 / 1.000844, "retransmits": 1443}},
		// 164 910 were sent; the server saw numbers up to 164 881 and missed 16 702.
		{"3.12-udp", trial.UDP, map[string]float64{"goodput_bps": 214563192 * 8 / 1.000185, "packet_rate_pps": 148179 / 1.000185,
			"loss_ratio": 1 - 148179.0/164910, "jitter_ns": 5172.781794531432, "reordered_packets": 0}},
		{"3.18-tcp", trial.TCP, map[string]float64{"goodput_bps": 1529741312 * 8 / 1.00203, "retransmits": 12}},
		// The server saw numbers up to 135790 and missed 55321.
		{"3.18-udp", trial.UDP, map[string]float64{"goodput_bps": 112656600 * 8 / 1.00144, "packet_rate_pps": 80469 / 1.00144,
			"loss_ratio": 1 - 80469.0/135790, "jitter_ns": 20953.34812655792, "reordered_packets": 0}},
		{"3.12-udpbig", trial.UDP, map[string]float64{"goodput_bps": 12492000 * 8 / 1.000161, "packet_rate_pps": 1388 / 1.000161,
			"loss_ratio": 0, "jitter_ns": 27358.137380312633, "reordered_packets": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := read(captured(t, c.name+"-client"), captured(t, c.name+"-server"), c.protocol)
			if err != nil {
				t.Fatal(err)
			}
			var sum total
			sum.add(f)
			got := sum.metrics(c.protocol)
			for name, want := range c.want {
				if math.Abs(got[name]-want) > 1e-9*want {
					t.Errorf("%s is %v, want %v", name, got[name], want)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("metrics %v", got)
			}
		})
	}
}

// TestOlder reads UDP as iperf3 before 3.10 tells it: one sum, and the received
// bytes in the intervals alone.
func TestOlder(t *testing.T) {
	older := func(text []byte) []byte {
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		end := doc["end"].(map[string]any)
		delete(end, "sum_sent")
		delete(end, "sum_received")
		text, _ = json.Marshal(doc)
		return text
	}
	client, server := captured(t, "3.12-udp-client"), captured(t, "3.12-udp-server")
	want, err := read(client, server, trial.UDP)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(older(client), older(server), trial.UDP)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
}

// TestSum checks that rates and packets add up over flows and that jitter does not.
func TestSum(t *testing.T) {
	two, three := 2.0, 3.0
	var sum total
	sum.add(flow{bytes: 1000, seconds: 1, sent: 100, received: 90, jitter: 1, reordered: 1, retransmits: &two})
	sum.add(flow{bytes: 1000, seconds: 2, sent: 300, received: 210, jitter: 3, reordered: 2, retransmits: &three})
	udp, tcp := sum.metrics(trial.UDP), sum.metrics(trial.TCP)
	for name, want := range map[string]float64{"goodput_bps": 12000, "packet_rate_pps": 195, "loss_ratio": 0.25, "jitter_ns": 2e6, "reordered_packets": 3} {
		if udp[name] != want {
			t.Errorf("%s is %v, want %v", name, udp[name], want)
		}
	}
	if tcp["retransmits"] != 5 {
		t.Errorf("metrics %v", tcp)
	}
}

// TestDuplicates: packets that came twice make no negative loss.
func TestDuplicates(t *testing.T) {
	var sum total
	sum.add(flow{bytes: 1, seconds: 1, sent: 10, received: 12})
	if loss := sum.metrics(trial.UDP)["loss_ratio"]; loss != 0 {
		t.Errorf("loss %v", loss)
	}
}

// TestAllLost: a receiver that got nothing is a result, not an error.
func TestAllLost(t *testing.T) {
	server := `{"end":{"sum_sent":{"seconds":1},"sum_received":{"seconds":1,"bytes":0,"packets":0,"lost_packets":0}}}`
	client := `{"end":{"sum_sent":{"seconds":1,"bytes":1448,"packets":1},"sum_received":{"seconds":1}}}`
	f, err := read([]byte(client), []byte(server), trial.UDP)
	if err != nil {
		t.Fatal(err)
	}
	var sum total
	sum.add(f)
	if m := sum.metrics(trial.UDP); m["loss_ratio"] != 1 || m["goodput_bps"] != 0 {
		t.Errorf("metrics %v", m)
	}
}

func TestRubbish(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "no result",
		"Segmentation fault": "no result",
		"null":               "no result",
		"[]":                 "no result",
		`{"end":{}}`:         "no result",
		`{"end":{"sum_sent":{"seconds":1},"sum_received":{"seconds":0,"bytes":5}}}`:      "no result",
		`{"end":{"sum_sent":{"seconds":1},"sum_received":{"seconds":1,"bytes":-5}}}`:     "no result",
		`{"end":{"sum_sent":{"seconds":1},"sum_received":{"seconds":1,"bytes":1e300}}}`:  "no result",
		`{"end":{"sum_sent":{"seconds":1},"sum_received":{"seconds":1e-300,"bytes":1}}}`: "no result",
		string(captured(t, "3.18-refused-client")):                                       "unable to connect to server - server may",
		string(captured(t, "3.12-refused-client")):                                       "unable to connect to server: Connection refused",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"3.12-tcp", "3.12-udp", "3.12-udpbig"} {
		f.Add(captured(f, name+"-client"), captured(f, name+"-server"), true)
	}
	f.Add([]byte(`{"end":{"sum":{"seconds":1}}}`), []byte(`{"end":{"sum":{"seconds":1}}}`), false)
	f.Fuzz(func(t *testing.T, client, server []byte, udp bool) {
		protocol := map[bool]string{true: trial.UDP, false: trial.TCP}[udp]
		counted, err := read(client, server, protocol)
		if err != nil {
			return
		}
		var sum total
		sum.add(counted)
		for name, x := range sum.metrics(protocol) {
			if !(x >= 0) || math.IsInf(x, 0) || name == "loss_ratio" && x > 1 {
				t.Errorf("%s is %v", name, x)
			}
		}
	})
}
