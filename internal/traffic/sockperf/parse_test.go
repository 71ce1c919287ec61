package sockperf

import (
	"os"
	"strings"
	"testing"
)

const heading = "packet, txTime(sec), rxTime(sec), rtt(usec)\n"

func TestParse(t *testing.T) {
	captured, err := os.Open("testdata/3.7.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = captured.Close() }()
	m, err := parse(captured)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.roundTrips); n != 39 || m.roundTrips[0] != 59167 || m.roundTrips[1] != 59448 || m.roundTrips[n-1] != 45988 {
		t.Errorf("%d round trips %v", n, m.roundTrips)
	}
	if s := m.seconds(); s != 0.002292516 {
		t.Errorf("%v s", s)
	}
}

func TestRubbish(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "no messages",
		"rubbish":                             "no messages",
		heading + "1, 2":                      "not a message",
		heading + "1, 2.0, 1.0, 3":            "not a message", // back before it left
		heading + "1, -2.0, 1.0, 3":           "not a message",
		heading + "1, 1.0, x":                 "not a message",
		heading + "1, 1.000000001, 1.0000":    "not a message", // cut off
		heading + "1, 99999999999999999, 1.0": "not a message",
		heading + strings.Repeat("x", 1<<20):  "token too long",
	} {
		if _, err := parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %q", text, err, want)
		}
	}
}

func TestNoMessage(t *testing.T) {
	m, err := parse(strings.NewReader(heading + "------\n"))
	if err != nil || len(m.roundTrips) != 0 {
		t.Errorf("%v %v", m, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(heading + "0, 2.414673050, 2.414732217, 59.167\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parse(strings.NewReader(text))
		for _, ns := range m.roundTrips {
			if ns < 0 && err == nil {
				t.Errorf("%d ns", ns)
			}
		}
	})
}
