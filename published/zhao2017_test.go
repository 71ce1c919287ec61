package published_test

import "testing"

// TestZhaoFig3, where the source prints ratios only: of 100 without containers.
func TestZhaoFig3(t *testing.T) {
	rates := func(each map[string]float64) func(map[string]any) map[string]float64 {
		return func(f map[string]any) map[string]float64 {
			return map[string]float64{"transactions_per_second": wired(f, each)}
		}
	}
	macvlan := 100 * (1 - 0.0341)
	printed := map[string]float64{"host": 100, "macvlan": macvlan, "ovs": macvlan / 1.0793, "bridge": macvlan / 1.3163}
	paper{id: "zhao2017/fig3", cores: 16, truth: rates(printed)}.expect(t, map[string]string{
		"fig3-one:ovs": holds, "fig3-one:bridge": holds, "fig3-one:ovs-bridge": holds, "fig3-bare": holds,
	})
	paper{id: "zhao2017/fig3", cores: 16, truth: rates(map[string]float64{"host": 100, "macvlan": 80, "ovs": 90, "bridge": 95})}.expect(t, map[string]string{
		"fig3-one:ovs": fails, "fig3-one:bridge": fails, "fig3-one:ovs-bridge": fails, "fig3-bare": fails,
	})
}

// TestZhaoFig3OfLXC, whose containers Docker's are like; and where both are otherwise.
func TestZhaoFig3OfLXC(t *testing.T) {
	rates := func(docker float64, each map[string]float64) func(map[string]any) map[string]float64 {
		return func(f map[string]any) map[string]float64 {
			x := wired(f, each)
			if f["chain.endpoints[client].runtime"] == "docker" {
				x *= docker
			}
			return map[string]float64{"transactions_per_second": x}
		}
	}
	paper{id: "zhao2017/fig3-lxc", cores: 16, truth: rates(1, map[string]float64{"macvlan": 96, "ovs": 89, "bridge": 73})}.expect(t, map[string]string{
		"fig3-one:lxc-ovs": holds, "fig3-one:lxc-bridge": holds, "fig3-one:docker-macvlan": holds, "fig3-one:docker-bridge": holds,
	})
	paper{id: "zhao2017/fig3-lxc", cores: 16, truth: rates(0.8, map[string]float64{"macvlan": 80, "ovs": 90, "bridge": 95})}.expect(t, map[string]string{
		"fig3-one:lxc-ovs": fails, "fig3-one:lxc-bridge": fails, "fig3-one:docker-macvlan": fails, "fig3-one:docker-bridge": fails,
	})
}

// TestZhaoFig4, with a loss of 77.99% between nodes; and on a machine where hands do better.
func TestZhaoFig4(t *testing.T) {
	const numa = "chain.placement.numa"
	printed := func(f map[string]any) map[string]float64 {
		x := wired(f, map[string]float64{"macvlan": 50e9, "ovs": 40e9, "bridge": 38e9}) * level(f, "flows")
		switch few := level(f, "flows") <= 2; {
		case f[numa] == "different":
			x *= 1.02 * (1 - 0.7799)
		case f[numa] == "same" && few || f["affinity"] == "0/1" && few:
			x *= 1.02
		case f[numa] == "same" || f["affinity"] == "0/1":
			x *= 0.7
		}
		return map[string]float64{"goodput_bps": x}
	}
	widerAt := func(node string) func(map[string]any) float64 {
		return func(f map[string]any) float64 {
			if f[numa] == node {
				return 5
			}
			return 1
		}
	}
	paper{id: "zhao2017/fig4", cores: 16, truth: printed, scatter: widerAt("same")}.expect(t, map[string]string{
		"fig4-macvlan:ovs": holds, "fig4-macvlan:bridge": holds, "fig4-numa": holds, "fig4-auto:node": holds, "fig4-auto:cores": holds, "fig4-auto:spread": holds,
		"bind-few:one-node": holds, "bind-few:four-node": holds, "bind-few:one-core": holds, "bind-few:four-core": holds,
	})
	opposite := func(f map[string]any) map[string]float64 {
		x := wired(f, map[string]float64{"macvlan": 30e9, "ovs": 40e9, "bridge": 38e9})
		bound := f[numa] != "none" || f["affinity"] == "0/1"
		switch one := level(f, "flows") == 1; {
		case bound && one && f[numa] != "none":
			x *= 1.5
		case bound && one:
			x *= 0.8
		case bound:
			x *= 1.3
		}
		return map[string]float64{"goodput_bps": x}
	}
	paper{id: "zhao2017/fig4", cores: 16, truth: opposite, scatter: widerAt("none")}.expect(t, map[string]string{
		"fig4-macvlan:ovs": fails, "fig4-macvlan:bridge": fails, "fig4-numa": fails, "fig4-auto:node": fails, "fig4-auto:cores": holds, "fig4-auto:spread": fails,
		"bind-few:one-node": holds, "bind-few:four-node": fails, "bind-few:one-core": fails, "bind-few:four-core": fails,
	})
	// With one memory node neither binding to nodes can be had.
	lone := paper{id: "zhao2017/fig4", cores: 2, refused: "one memory node", truth: func(f map[string]any) map[string]float64 {
		if f[numa] != "none" {
			return nil
		}
		return printed(f)
	}}
	lone.expect(t, map[string]string{
		"fig4-macvlan:ovs": holds, "fig4-macvlan:bridge": holds, "fig4-numa": untold, "fig4-auto:node": untold, "fig4-auto:cores": holds, "fig4-auto:spread": untold,
		"bind-few:one-node": untold, "bind-few:four-node": untold, "bind-few:one-core": holds, "bind-few:four-core": holds,
	})
}

// TestZhaoFig6, as the text has it on 16 cores, its opposite, and on two cores.
func TestZhaoFig6(t *testing.T) {
	printed := func(f map[string]any) map[string]float64 {
		flows := level(f, "flows")
		x, busy := 18e9*flows, flows/16
		if f["wiring"] != "macvlan" {
			x, busy = min(100e9, 16.5e9*flows), 0.7*min(1, flows/6)
		}
		if f["wiring"] == "ovs" {
			x *= 1.0343
		}
		return map[string]float64{"goodput_bps": x, "cpu_busy_ratio": busy}
	}
	paper{id: "zhao2017/fig6", cores: 16, truth: printed}.expect(t, map[string]string{
		"fig6-linear": holds, "fig6-ovs-bridge": holds, "fig6-plateau:bridge": holds, "fig6-plateau:ovs": holds, "fig6-plateau:cpu": holds,
	})
	opposite := func(f map[string]any) map[string]float64 {
		x := 20e9
		if f["wiring"] != "macvlan" {
			x = 10e9 * level(f, "flows")
		}
		return map[string]float64{"goodput_bps": x, "cpu_busy_ratio": 0.95}
	}
	paper{id: "zhao2017/fig6", cores: 16, truth: opposite}.expect(t, map[string]string{
		"fig6-linear": fails, "fig6-ovs-bridge": fails, "fig6-plateau:bridge": fails, "fig6-plateau:ovs": fails, "fig6-plateau:cpu": fails,
	})
	paper{id: "zhao2017/fig6", cores: 2, truth: printed}.expect(t, map[string]string{
		"fig6-linear": holds, "fig6-ovs-bridge": holds, "fig6-plateau:bridge": untold, "fig6-plateau:ovs": untold, "fig6-plateau:cpu": untold,
	})
}

// udpAndTCP is a machine with a goodput for each protocol; MACVLAN has so much more.
func udpAndTCP(udp, tcp, cut, macvlan float64) func(map[string]any) map[string]float64 {
	return func(f map[string]any) map[string]float64 {
		x := map[any]float64{"udp": udp, "tcp": tcp}[f["protocol"]]
		if f["chain.tuning.gso"] != nil { // GRO is off
			x = cut
		}
		if f["wiring"] == "macvlan" {
			x *= macvlan
		}
		return map[string]float64{"goodput_bps": x}
	}
}

func TestZhaoFigs11And12(t *testing.T) {
	paper{id: "zhao2017/fig11", cores: 16, truth: udpAndTCP(8e9, 30e9, 9e9, 1.3)}.expect(t, map[string]string{
		"udp-below-tcp:bridge": holds, "udp-below-tcp:macvlan": holds, "udp-below-tcp:macvlan-ovs": holds, "gro": holds, "gro:cut": holds,
	})
	paper{id: "zhao2017/fig11", cores: 16, truth: udpAndTCP(25e9, 30e9, 9e9, 0.8)}.expect(t, map[string]string{
		"udp-below-tcp:bridge": fails, "udp-below-tcp:macvlan": fails, "udp-below-tcp:macvlan-ovs": fails, "gro": fails, "gro:cut": fails,
	})
	between := udpAndTCP(8e9, 30e9, 9e9, 1.3)
	paper{id: "zhao2017/fig11", cores: 16, truth: func(f map[string]any) map[string]float64 { // OVS carries more than either
		x := between(f)
		if f["wiring"] == "ovs" {
			x["goodput_bps"] *= 1.6
		}
		return x
	}}.expect(t, map[string]string{
		"udp-below-tcp:bridge": holds, "udp-below-tcp:macvlan": holds, "udp-below-tcp:macvlan-ovs": fails, "gro": holds, "gro:cut": holds,
	})
	paper{id: "zhao2017/fig12", cores: 16, truth: udpAndTCP(8e9, 30e9, 9e9, 1.3)}.expect(t, map[string]string{
		"udp-below-tcp:fig12": holds,
	})
	paper{id: "zhao2017/fig12", cores: 16, truth: udpAndTCP(25e9, 30e9, 9e9, 0.8)}.expect(t, map[string]string{
		"udp-below-tcp:fig12": fails,
	})
}

func TestZhaoFigs16And17(t *testing.T) {
	flat := func(f map[string]any) map[string]float64 {
		return map[string]float64{"goodput_bps": 30e9, "loss3_conditional_throughput_pps": 2e6}
	}
	bySize := func(f map[string]any) map[string]float64 {
		return map[string]float64{"goodput_bps": 30e6 * level(f, either(f, "payload_size", "chain.tuning.tcp_mss"))}
	}
	byFrame := func(f map[string]any) map[string]float64 {
		return map[string]float64{"loss3_conditional_throughput_pps": 1e9 / level(f, "frame_size")}
	}
	paper{id: "zhao2017/fig16", cores: 16, truth: flat}.expect(t, map[string]string{
		"fig16:sends-macvlan": holds, "fig16:sends-bridge": holds, "fig16:segments-macvlan": holds, "fig16:segments-bridge": holds,
	})
	paper{id: "zhao2017/fig16", cores: 16, truth: bySize}.expect(t, map[string]string{
		"fig16:sends-macvlan": fails, "fig16:sends-bridge": fails, "fig16:segments-macvlan": fails, "fig16:segments-bridge": fails,
	})
	paper{id: "zhao2017/fig17", cores: 16, truth: flat}.expect(t, map[string]string{"fig17:one": holds, "fig17": untold})
	paper{id: "zhao2017/fig17", cores: 16, truth: byFrame}.expect(t, map[string]string{"fig17:one": fails, "fig17": untold})
}

func TestZhaoEightContainers(t *testing.T) {
	falling := func(containers, namespaces float64) func(map[string]any) map[string]float64 {
		return func(f map[string]any) map[string]float64 {
			if level(f, "copies") == 8 {
				return map[string]float64{"goodput_bps": map[any]float64{"docker": containers, "netns": namespaces}[f["chain.runtime"]]}
			}
			return map[string]float64{"goodput_bps": 900e6}
		}
	}
	paper{id: "zhao2017/bridge-8", cores: 16, truth: falling(3e6, 600e6)}.expect(t, map[string]string{
		"cited-bridge-8:rate": holds, "cited-bridge-8:loss": holds, "cited-bridge-8:netns-rate": fails, "cited-bridge-8:netns-loss": fails,
	})
	paper{id: "zhao2017/bridge-8", cores: 16, truth: falling(600e6, 3e6)}.expect(t, map[string]string{
		"cited-bridge-8:rate": fails, "cited-bridge-8:loss": fails, "cited-bridge-8:netns-rate": holds, "cited-bridge-8:netns-loss": holds,
	})
}

// Docker with the losses that the source cites, and one that is free of them and slows TCP.
func TestZhaoCitedNative(t *testing.T) {
	const id = "zhao2017/cited-native"
	with := func(losses map[string]float64) func(map[string]any) map[string]float64 {
		return func(f map[string]any) map[string]float64 {
			rate := 1e9
			if f["wiring"] == "engine" {
				rate *= 1 - losses[f["protocol"].(string)]
				if f["protocol"] == "udp" && level(f, "payload_size") > 1448 {
					rate *= 1 - losses["long"]
				}
			}
			return map[string]float64{"goodput_bps": rate, "transactions_per_second": rate / 1e5}
		}
	}
	paper{id: id, cores: 4, truth: with(map[string]float64{"udp": 0.4297, "tcp_rr": 0.1936, "udp_rr": 0.1213})}.expect(t, map[string]string{
		"cited-native:tcp": holds, "cited-native:udp": holds, "cited-native:udp-long": holds, "cited-native:tcp_rr": holds, "cited-native:udp_rr": holds,
	})
	paper{id: id, cores: 4, truth: with(map[string]float64{"long": 0.4297, "tcp_rr": 0.1936, "udp_rr": 0.1213})}.expect(t, map[string]string{ // fragments alone cost
		"cited-native:tcp": holds, "cited-native:udp": fails, "cited-native:udp-long": holds, "cited-native:tcp_rr": holds, "cited-native:udp_rr": holds,
	})
	paper{id: id, cores: 4, truth: with(map[string]float64{"tcp": 0.3})}.expect(t, map[string]string{
		"cited-native:tcp": fails, "cited-native:udp": fails, "cited-native:udp-long": fails, "cited-native:tcp_rr": fails, "cited-native:udp_rr": fails,
	})
}

// Address translation that costs something, and one that costs less than nothing; and a kernel on which Docker makes no MACVLAN by itself.
func TestZhaoCitedNAT(t *testing.T) {
	const id = "zhao2017/cited-nat"
	with := func(bridged, translated, macvlan float64) func(map[string]any) map[string]float64 {
		return func(f map[string]any) map[string]float64 {
			rate := 1e9
			switch {
			case f["chain.engine.driver"] == "host": // as without a container
			case f["chain.engine.publish"] == "5201":
				rate *= translated
			case f["chain.engine.driver"] == "macvlan":
				rate *= macvlan
			case f["wiring"] == "engine":
				rate *= bridged
			}
			if macvlan == 0 && rate == 0 {
				return nil
			}
			return map[string]float64{"goodput_bps": rate, "transactions_per_second": rate / 1e5}
		}
	}
	paper{id: id, cores: 4, truth: with(0.8, 0.7, 0.95)}.expect(t, map[string]string{
		"cited-native:nat-tcp": holds, "cited-native:nat-tcp_rr": holds, "cited-native:nat-tcp_crr": holds, "fig3-one:engine-bridge": holds,
	})
	paper{id: id, cores: 4, truth: with(0.8, 1.2, 0.7)}.expect(t, map[string]string{
		"cited-native:nat-tcp": fails, "cited-native:nat-tcp_rr": fails, "cited-native:nat-tcp_crr": fails, "fig3-one:engine-bridge": fails,
	})
	paper{id: id, cores: 4, refused: "no dummy", truth: with(0.8, 0.7, 0)}.expect(t, map[string]string{
		"cited-native:nat-tcp": holds, "cited-native:nat-tcp_rr": holds, "cited-native:nat-tcp_crr": holds, "fig3-one:engine-bridge": untold,
	})
}
