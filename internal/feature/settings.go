package feature

import "strings"

// sysctls are the settings that move a measurement on one machine. Those that each
// namespace has of its own are the host's here; a chain's are read from its own.
var sysctls = []string{
	"kernel.nmi_watchdog",
	"kernel.numa_balancing",
	"kernel.randomize_va_space",
	"kernel.sched_autogroup_enabled",
	"kernel.sched_rt_runtime_us",
	"kernel.timer_migration",
	"kernel.unprivileged_bpf_disabled",
	"net.bridge.bridge-nf-call-iptables",
	"net.core.bpf_jit_enable",
	"net.core.bpf_jit_harden",
	"net.core.busy_poll",
	"net.core.busy_read",
	"net.core.default_qdisc",
	"net.core.dev_weight",
	"net.core.dev_weight_rx_bias",
	"net.core.dev_weight_tx_bias",
	"net.core.flow_limit_table_len",
	"net.core.gro_normal_batch",
	"net.core.high_order_alloc_disable",
	"net.core.netdev_budget",
	"net.core.netdev_budget_usecs",
	"net.core.netdev_max_backlog",
	"net.core.netdev_tstamp_prequeue",
	"net.core.optmem_max",
	"net.core.rmem_default",
	"net.core.rmem_max",
	"net.core.rps_sock_flow_entries",
	"net.core.skb_defer_max",
	"net.core.somaxconn",
	"net.core.wmem_default",
	"net.core.wmem_max",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_limit_output_bytes",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_wmem",
	"net.ipv4.udp_mem",
	"net.netfilter.nf_conntrack_max",
	"vm.compaction_proactiveness",
	"vm.nr_hugepages",
	"vm.swappiness",
}

// elsewhere are settings that are no sysctls, by the name they are told under.
var elsewhere = map[string]string{
	"rcu_expedited":        "sys/kernel/rcu_expedited",
	"rcu_normal":           "sys/kernel/rcu_normal",
	"clocksource":          "sys/devices/system/clocksource/clocksource0/current_clocksource",
	"transparent_hugepage": "sys/kernel/mm/transparent_hugepage/enabled",
}

// settings are the values of what this machine has of these.
func (e Env) settings() map[string]string {
	values := map[string]string{}
	for _, name := range sysctls {
		e.addSetting(values, name, "proc/sys/"+strings.ReplaceAll(name, ".", "/"))
	}
	for name, file := range elsewhere {
		e.addSetting(values, name, file)
	}
	return values
}

func (e Env) addSetting(values map[string]string, name, file string) {
	if s, ok := e.Files.Text(file); ok {
		values[name] = chosen(oneLine(s))
	}
}

// chosen is the bracketed word of "always [madvise] never", else all of it.
func chosen(s string) string {
	_, rest, ok := strings.Cut(s, "[")
	if word, _, closed := strings.Cut(rest, "]"); ok && closed {
		return word
	}
	return s
}
