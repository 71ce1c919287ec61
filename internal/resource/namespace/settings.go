package namespace

// addressMode is whether interfaces that come get link-local addresses. While the kernel's lock of the
// network is held, by whomever, who reads it spins.
const addressMode = "net/ipv6/conf/default/addr_gen_mode"

// Sysctls of a namespace. Reverse path filtering is off because a chain's way
// back need not be its way there; link-local addresses are not made because
// nothing needs them and their announcements would be traffic in the chain.
func Sysctls(forwards, ipv6 bool) []Sysctl {
	s := []Sysctl{
		{Path: "net/ipv4/conf/all/rp_filter", Value: "0"},
		{Path: "net/ipv4/conf/default/rp_filter", Value: "0"},
	}
	if forwards {
		s = append(s, Sysctl{Path: "net/ipv4/ip_forward", Value: "1"})
	}
	if ipv6 {
		s = append(s, Sysctl{Path: addressMode, Value: "1"},
			Sysctl{Path: "net/ipv6/conf/default/accept_dad", Value: "0"})
		if forwards {
			s = append(s, Sysctl{Path: "net/ipv6/conf/all/forwarding", Value: "1"})
		}
	}
	return s
}

// Still are the settings of a namespace that stands in for one which is to come: it forwards nothing, whatever the host does.
func Still(ipv6 bool) []Sysctl {
	s := []Sysctl{{Path: "net/ipv4/ip_forward", Value: "0"}}
	if ipv6 {
		s = append(s, Sysctl{Path: "net/ipv6/conf/all/forwarding", Value: "0"})
	}
	return append(s, Sysctls(false, ipv6)...)
}

// BroughtSysctls are those of the namespace of a container that another runtime brought: what interfaces that come need, and
// no more of one that does not forward, since the rest is the container's.
func BroughtSysctls(forwards, ipv6 bool) []Sysctl {
	var s []Sysctl
	if ipv6 {
		s = append(s, Sysctl{Path: "net/ipv6/conf/default/disable_ipv6", Value: "0"})
	}
	if forwards {
		s = append(s, Sysctls(true, ipv6)...)
	}
	return s
}

// Enabled is what a container's namespace needs besides: engines switch IPv6 off where they give no network.
func Enabled(ipv6 bool) []Sysctl {
	if !ipv6 {
		return nil
	}
	return []Sysctl{
		{Path: "net/ipv6/conf/all/disable_ipv6", Value: "0"},
		{Path: "net/ipv6/conf/default/disable_ipv6", Value: "0"},
	}
}
