package v1alpha1

import "regexp"

// The sizes of super-packets: less than one large packet is none, and the kernel's
// GSO_MAX_SIZE is 8 times 65535.
const (
	minSuper = 1500
	maxSuper = 8 * 65535
)

// congestionControl is what a congestion control can be called (TCP_CA_NAME_MAX).
var congestionControl = regexp.MustCompile(`^[a-z0-9_-]{1,15}$`)

func checkTuning(t Tuning) []FieldProblem {
	var f findings
	for _, s := range []struct {
		field string
		size  Size
	}{{"gso_max_size", t.GSOMaxSize}, {"gso_ipv4_max_size", t.GSOIPv4MaxSize}, {"gro_max_size", t.GROMaxSize}, {"gro_ipv4_max_size", t.GROIPv4MaxSize}} {
		if s.size != 0 && (s.size < minSuper || s.size > maxSuper) {
			f.addf(s.field, "%d bytes are not between %d and %d, which is the kernel's largest", s.size, minSuper, maxSuper)
		}
	}
	f.add("rps", checkCores(t.RPS))
	f.add("xps", checkCores(t.XPS))
	if t.TCPCongestionControl != "" && !congestionControl.MatchString(t.TCPCongestionControl) {
		f.addf("tcp_congestion_control", "%s is no name of a congestion control, such as cubic", quote(t.TCPCongestionControl))
	}
	f.under("tcp_rmem", checkBuffers(t.TCPRmem))
	f.under("tcp_wmem", checkBuffers(t.TCPWmem))
	f.under("", t.MachineTuning.check())
	return f
}

// governor is what a frequency governor can be called (CPUFREQ_NAME_LEN).
var governor = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,14}$`)

// check refuses what changes the whole machine without being allowed to.
func (t MachineTuning) check() []FieldProblem {
	var f findings
	for _, s := range []struct {
		field string
		set   bool
	}{{"rmem_max", t.RmemMax > 0}, {"wmem_max", t.WmemMax > 0}, {"netdev_max_backlog", t.NetdevMaxBacklog > 0},
		{"hugepages", t.Hugepages > 0}, {"governor", t.Governor != ""}, {"rcu_expedited", t.RCUExpedited != nil}, {"interrupts", t.Interrupts != ""}} {
		if s.set && t.Host == "" {
			f.addf(s.field, "is the whole machine's; write host: allow beside it to have it changed while the chain is up, or leave it out")
		}
	}
	for _, s := range []struct {
		field string
		size  Size
	}{{"rmem_max", t.RmemMax}, {"wmem_max", t.WmemMax}} {
		if s.size > largestBuffer {
			f.addf(s.field, "%s is out of bounds; at most %d", s.size, largestBuffer)
		}
	}
	if t.Governor != "" && !governor.MatchString(t.Governor) {
		f.addf("governor", "%s is no name of a governor, such as performance", quote(t.Governor))
	}
	if t.Interrupts != "" {
		if _, err := ParseCPUList(t.Interrupts); err != nil {
			f.add("interrupts", err.Error())
		}
	}
	return f
}

// checkCores reads a list of CPUs, or none.
func checkCores(list string) string {
	if list == "" || list == None {
		return ""
	}
	if _, err := ParseCPUList(list); err != nil {
		return err.Error()
	}
	return ""
}

// largestBuffer is the kernel's: its sizes are of 31 bits.
const largestBuffer = 1<<31 - 1

func checkBuffers(sizes []Size) []FieldProblem {
	var f findings
	if len(sizes) == 0 {
		return f
	}
	if len(sizes) != 3 {
		f.addf("", "three sizes are expected, the smallest, the first and the largest; found %d", len(sizes))
		return f
	}
	for i, s := range sizes {
		if s < 1 || s > largestBuffer || i > 0 && s < sizes[i-1] {
			f.addf(item("", i), "%s is out of order or of bounds; write the smallest, the first and the largest, each from 1 to %d", s, largestBuffer)
		}
	}
	return f
}
