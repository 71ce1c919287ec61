package ping

import (
	"os"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	captured, err := os.ReadFile("testdata/iputils-20221126.txt")
	if err != nil {
		t.Fatal(err)
	}
	times := parse(captured)
	if len(times) != 20 || times[0] != 419000 || times[1] != 18000 || times[19] != 11000 {
		t.Errorf("times %v", times)
	}
	for text, want := range map[string][]int64{
		"":        nil,
		"rubbish": nil,
		"64 bytes from 2001:2::c: icmp_seq=1 ttl=62 time=0.048 ms":                                                          {48000},
		"64 bytes from a: icmp_seq=1 ttl=62 time=1234 ms":                                                                   {1234e6},
		"64 bytes from a: icmp_seq=1 ttl=62 time=1.5 ms\n64 bytes from a: icmp_seq=1 ttl=62 time=1.6 ms (DUP!)":             {1500000},
		"From 192.0.2.1 icmp_seq=1 Destination Host Unreachable\n64 bytes from a: icmp_seq=2 ttl=62 time=2.5 ms\nrtt min/a": {2500000},
		"16 bytes from a: icmp_seq=1 ttl=62":                                                                                nil,
		"64 bytes from a: icmp_seq=1 ttl=62 time=1.2.3 ms":                                                                  nil,
		"64 bytes from a: icmp_seq=1 ttl=62 time=99999999999999999 ms":                                                      nil,
	} {
		if got := parse([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("64 bytes from a: icmp_seq=1 ttl=62 time=1.5 ms\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, ns := range parse(text) {
			if ns < 0 {
				t.Errorf("%d ns", ns)
			}
		}
	})
}
