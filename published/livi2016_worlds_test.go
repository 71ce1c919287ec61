package published_test

import "math"

// world is a machine as a figure of Livi et al. (2016) has it, and one where all that is
// claimed of it is wrong. Numbers that the paper does not print are made up.
type world struct{ paper, opposite func(cell) measured }

const (
	rulesFactor    = "chain.everywhere[0].firewall.rules.total"
	statefulFactor = "chain.everywhere[0].firewall.rules.stateful"
	switchesFactor = "chain.ovs.switches"
	joinFactor     = "chain.ovs.switch_to_switch"
	segmentFactor  = "chain.tuning.tcp_mss"
)

var liviWorlds = map[string]world{
	"livi2016/fig1":       {fig1, fig1Opposite},
	"livi2016/one-flow":   {oneFlow, oneFlowOpposite},
	"livi2016/tcp-size":   {tcpSize, tcpSizeOpposite},
	"livi2016/fig2":       {fig2, fig2Opposite},
	"livi2016/fig3":       {fig3, fig3Opposite},
	"livi2016/fig5":       {fig5, fig5Opposite},
	"livi2016/fig7":       {fig7, fig7Opposite},
	"livi2016/fig8":       {fig7, fig7Opposite},
	"livi2016/fig9":       {fig9, fig9Opposite},
	"livi2016/fig10":      {fig10, fig10Opposite},
	"livi2016/fig11":      {fig11, fig11Opposite},
	"livi2016/bridge-ovs": {bridges, bridgesOpposite},
}

func fig1(c cell) measured {
	plain := 63.9e9 * growing(c.flows, paperCores)
	switch {
	case c.udp && c.mtu > 1500:
		return carries(105e9)
	case c.udp:
		return carries(50e9)
	case c.Load.Zerocopy:
		return carries(plain * (1.3 + 0.14*math.Min(8, float64(c.flows))))
	}
	return carries(plain)
}

func fig1Opposite(c cell) measured {
	switch {
	case c.udp:
		return carries(40e9)
	case c.Load.Zerocopy:
		return carries(20e9)
	}
	return carries(60e9)
}

func oneFlow(c cell) measured {
	share := growing(c.flows, paperCores)
	return measured{"goodput_bps": 64e9 * share, "cpu_busy_ratio": math.Min(1, 2*share)}
}

func oneFlowOpposite(c cell) measured {
	return measured{"goodput_bps": 64e9 / float64(c.flows), "cpu_busy_ratio": 1}
}

func tcpSize(cell) measured { return carries(60e9) }

func tcpSizeOpposite(c cell) measured { return carries(float64(c.size) * c.of(segmentFactor)) }

func fig2(c cell) measured {
	size := float64(c.size)
	byFlows := map[int]float64{1: 0.3, 4: 0.8, 6: 1, 8: 0.9}
	m := carries(105e9 * byFlows[c.flows] * math.Min(size/32739, 1-(size-32739)/1e5))
	if c.mtu == 1500 {
		m["fragments_per_datagram"] = math.Ceil((size + 8) / 1480)
	}
	return m
}

func fig2Opposite(c cell) measured {
	m := carries(105e9 / float64(c.flows) / (1 + float64(c.size)/1e5))
	m["fragments_per_datagram"] = 2
	return m
}

func fig3(c cell) measured {
	many := 2*c.flows > paperCores
	rate := 1e6 * growing(c.flows, paperCores) / (1 + float64(c.size)/3e4)
	if many && c.size > 32739 {
		rate *= 0.5
	}
	return measured{"packet_rate_pps": rate, "goodput_bps": rate * 8 * float64(c.size), "cpu_busy_ratio": math.Min(0.99, 2*growing(c.flows, paperCores))}
}

func fig3Opposite(c cell) measured {
	rate := 1e6
	if 2*c.flows <= paperCores && c.size > 32739 {
		rate *= 0.3
	}
	return measured{"packet_rate_pps": rate, "goodput_bps": rate * 8 * float64(c.size), "cpu_busy_ratio": 0.5}
}

func fig5(c cell) measured {
	if c.is(joinFactor, "patch") {
		return carries(100e9)
	}
	return carries(90e9 * math.Pow(0.93, c.of(switchesFactor)))
}

func fig5Opposite(c cell) measured {
	if c.is(joinFactor, "patch") {
		return carries(100e9 * math.Pow(0.93, c.of(switchesFactor)))
	}
	return carries(110e9)
}

// fig7 loses 12% with the third namespace and less with each further one; a switch takes
// 7% more.
func fig7(c cell) measured {
	t := 155e9 * math.Pow(float64(c.length-1), -0.1844) * growing(c.flows, paperCores)
	switch {
	case c.of(switchesFactor) > 0:
		return carries(90e9 * math.Pow(0.93, c.of(switchesFactor)))
	case c.is("wiring", "ovs"):
		return carries(0.6 * t * math.Pow(0.93, float64(c.length-2)))
	}
	return carries(t)
}

// fig7Opposite loses little at first, and more with each further namespace.
func fig7Opposite(c cell) measured {
	t := 155e9 * math.Exp(-0.06*math.Pow(float64(c.length-2), 2))
	switch {
	case c.of(switchesFactor) > 0:
		return carries(90e9)
	case c.is("wiring", "ovs"):
		return carries(2 * t * math.Pow(1.5, float64(c.length-2)))
	}
	return carries(t)
}

func fig9(c cell) measured {
	rules := c.of(rulesFactor)
	if c.is(statefulFactor, false) {
		rules /= 4
	}
	return carries(100e9 * growing(c.flows, paperCores) / (1 + rules/1000))
}

func fig9Opposite(c cell) measured {
	t := 100e9 / float64(c.flows)
	if c.of(rulesFactor) >= 1000 {
		t *= 0.1
		if c.is(statefulFactor, false) {
			t *= 0.5
		}
	}
	return carries(t)
}

// fig10 has a packet meet each rule once, wherever, and pay for each namespace. With
// very many rules it gains a little, and with as many processes as cores more.
func fig10(c cell) measured {
	more, rules := float64(c.length-2), c.of(rulesFactor)
	switch {
	case rules == 5000:
		return carries(16e9 * (1 + 0.01*more))
	case rules == 1000 && 2*c.flows == paperCores:
		return carries(40e9 * (1.2 - 0.2*math.Abs(more-1)/10))
	}
	return carries(100e9 / (1 + rules/1000 + 0.1*more))
}

func fig10Opposite(c cell) measured {
	more, rules := float64(c.length-2), c.of(rulesFactor)
	if rules == 5000 || 2*c.flows == paperCores {
		return carries(16e9 / (1 + more))
	}
	return carries(50e9 * (1 + 0.1*more))
}

func fig11(c cell) measured {
	t := 100e9 * math.Pow(0.93, float64(c.length-2))
	if c.is("mix", "shapers") {
		t *= math.Pow(0.995, float64(c.length-2))
	}
	return carries(t)
}

func fig11Opposite(c cell) measured {
	t := 100e9 * math.Pow(0.93, float64(c.length-2))
	if c.is("mix", "shapers") {
		t *= math.Pow(0.6, float64(c.length-2))
	}
	return carries(t)
}

func bridges(c cell) measured {
	if c.is("wiring", "bridge") {
		return measured{"goodput_bps": 30e9, "forwarding_rate_pps": 1e6}
	}
	return measured{"goodput_bps": 60e9, "forwarding_rate_pps": 2e6}
}

func bridgesOpposite(c cell) measured {
	if c.is("wiring", "bridge") {
		return measured{"goodput_bps": 60e9, "forwarding_rate_pps": 2e6}
	}
	return measured{"goodput_bps": 30e9, "forwarding_rate_pps": 1e6}
}
