package deploy_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/link"
)

// TestPlacesOfPorts: the nearer a port is to where packets go, the earlier it is turned, also that of a replica which is left its flows.
func TestPlacesOfPorts(t *testing.T) {
	owner := nstest.Owner(t)
	all := planned(t, owner, "wiring: ebpf\n"+spec(forward("a"), replicas("r", 3), forward("b")))
	p := planned(t, owner, "wiring: ebpf\n"+spec(forward("a"), replicas("r", 2), forward("b")))
	there, ports := map[string]bool{}, map[string]map[string]string{}
	for _, r := range all.Resources {
		if s, is := r.Spec.(link.Spec); is {
			there[s.B.Device] = true
			if ports[s.A.Node] == nil {
				ports[s.A.Node] = map[string]string{}
			}
			ports[s.A.Node][s.A.Device] = s.B.Device
		}
	}
	left := p.Leave(map[string][]int{"r": {3}}, there)
	place := deploy.PlacesOf(left)
	for _, way := range [][]string{
		{ports["client"]["eth0"], ports["a"]["eth1"], ports["r-3"]["eth1"], ports["b"]["eth1"]},
		{ports["server"]["eth0"], ports["b"]["eth0"], ports["r-3"]["eth0"], ports["a"]["eth0"]},
	} {
		for i, port := range way[1:] {
			if at, known := place[port]; !known || at >= place[way[i]] {
				t.Errorf("port %s is at %d, and at %d is %s, from which packets come there", port, at, place[way[i]], way[i])
			}
		}
	}
	for _, device := range []string{"eth0", "eth1"} {
		if is, like := place[ports["r-3"][device]], place[ports["r-1"][device]]; is != like {
			t.Errorf("%s of the one that leaves is at %d, and of the first one at %d", device, is, like)
		}
	}
}
