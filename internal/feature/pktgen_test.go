package feature

import (
	"strings"
	"testing"
)

func TestPktgen(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  Feature
	}{
		"there": {map[string]string{"proc/net/pktgen/pgctrl": "Packet Generator for packet performance testing. Version: 2.75\n"}, Feature{Present: true, Detail: "2.75"}},
		"a module": {map[string]string{"proc/modules": "", "etc/os-release": "ID=debian\n"},
			Feature{Why: "/proc/net/pktgen/pgctrl is not there", Fix: "modprobe pktgen, or a kernel built with CONFIG_NET_PKTGEN"}},
		"no modules": {nil, Feature{Why: "has no packet generator pktgen", Fix: "a kernel built with CONFIG_NET_PKTGEN"}},
	} {
		got := Probe(t.Context(), Env{Files: tree(t, c.files)}).Get(Pktgen)
		if got.Present != c.want.Present || got.Detail != c.want.Detail || got.Fix != c.want.Fix || !strings.Contains(got.Why, c.want.Why) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
