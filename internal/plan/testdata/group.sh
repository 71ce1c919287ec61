#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes names:web, process:web; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.box
ip netns add nfchain.edge.box
ip -n nfchain.edge.box link set lo up
ip netns exec nfchain.edge.box sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.box sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.box sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.box sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.box sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.box sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.last
ip netns add nfchain.edge.last
ip -n nfchain.edge.last link set lo up
ip netns exec nfchain.edge.last sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.last sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.last sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.last sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.last sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.last sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name eth0 address 02:d8:9f:f8:bd:31 mtu 1500 netns nfchain.edge.box
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=box:eth0'
ip -n nfchain.edge.box link set eth0 up alias 'nfchain edge client:eth0=box:eth0'

# link:nfchain.edge.box:eth1
ip -n nfchain.edge.box link add eth1 address 02:be:b4:48:a6:72 mtu 1500 type veth peer name eth0 address 02:9a:c1:14:87:a3 mtu 1500 netns nfchain.edge.last
ip -n nfchain.edge.box link set eth1 up alias 'nfchain edge box:eth1=last:eth0'
ip -n nfchain.edge.last link set eth0 up alias 'nfchain edge box:eth1=last:eth0'

# link:nfchain.edge.last:eth1
ip -n nfchain.edge.last link add eth1 address 02:33:07:8e:b6:d6 mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.edge.last link set eth1 up alias 'nfchain edge last:eth1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge last:eth1=server:eth0'

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.109 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.109
ip -n nfchain.edge.client neighbour replace 198.19.39.109 lladdr 02:d8:9f:f8:bd:31 dev eth0 nud permanent

# address:nfchain.edge.box:eth0=198.19.39.109
ip -n nfchain.edge.box address add 198.19.39.109 peer 198.19.39.88 dev eth0

# neighbour:nfchain.edge.box:eth0=198.19.39.88
ip -n nfchain.edge.box neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::d dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::d
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::d lladdr 02:d8:9f:f8:bd:31 dev eth0 nud permanent

# address:nfchain.edge.box:eth0=2001:2:0:fc9d:8000::d
ip -n nfchain.edge.box address add 2001:2:0:fc9d:8000::d peer 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.box:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.box neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.109 dev eth0 onlink proto 78

# route:nfchain.edge.box:198.19.39.64/27
ip -n nfchain.edge.box route add 198.19.39.64/27 via 198.19.39.88 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::d dev eth0 onlink proto 78

# route:nfchain.edge.box:2001:2:0:fc9d::/65
ip -n nfchain.edge.box route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0 onlink proto 78

# address:nfchain.edge.box:eth1=198.19.39.77
ip -n nfchain.edge.box address add 198.19.39.77 peer 198.19.39.100 dev eth1

# neighbour:nfchain.edge.box:eth1=198.19.39.100
ip -n nfchain.edge.box neighbour replace 198.19.39.100 lladdr 02:9a:c1:14:87:a3 dev eth1 nud permanent

# address:nfchain.edge.last:eth0=198.19.39.100
ip -n nfchain.edge.last address add 198.19.39.100 peer 198.19.39.77 dev eth0

# neighbour:nfchain.edge.last:eth0=198.19.39.77
ip -n nfchain.edge.last neighbour replace 198.19.39.77 lladdr 02:be:b4:48:a6:72 dev eth0 nud permanent

# address:nfchain.edge.box:eth1=2001:2:0:fc9d::d
ip -n nfchain.edge.box address add 2001:2:0:fc9d::d peer 2001:2:0:fc9d:8000::4 dev eth1 nodad

# neighbour:nfchain.edge.box:eth1=2001:2:0:fc9d:8000::4
ip -n nfchain.edge.box neighbour replace 2001:2:0:fc9d:8000::4 lladdr 02:9a:c1:14:87:a3 dev eth1 nud permanent

# address:nfchain.edge.last:eth0=2001:2:0:fc9d:8000::4
ip -n nfchain.edge.last address add 2001:2:0:fc9d:8000::4 peer 2001:2:0:fc9d::d dev eth0 nodad

# neighbour:nfchain.edge.last:eth0=2001:2:0:fc9d::d
ip -n nfchain.edge.last neighbour replace 2001:2:0:fc9d::d lladdr 02:be:b4:48:a6:72 dev eth0 nud permanent

# route:nfchain.edge.box:198.19.39.96/27
ip -n nfchain.edge.box route add 198.19.39.96/27 via 198.19.39.100 dev eth1 onlink proto 78

# route:nfchain.edge.last:198.19.39.64/27
ip -n nfchain.edge.last route add 198.19.39.64/27 via 198.19.39.77 dev eth0 onlink proto 78

# route:nfchain.edge.box:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.box route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::4 dev eth1 onlink proto 78

# route:nfchain.edge.last:2001:2:0:fc9d::/65
ip -n nfchain.edge.last route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::d dev eth0 onlink proto 78

# address:nfchain.edge.last:eth1=198.19.39.68
ip -n nfchain.edge.last address add 198.19.39.68 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.last:eth1=198.19.39.118
ip -n nfchain.edge.last neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.68 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.68
ip -n nfchain.edge.server neighbour replace 198.19.39.68 lladdr 02:33:07:8e:b6:d6 dev eth0 nud permanent

# address:nfchain.edge.last:eth1=2001:2:0:fc9d::4
ip -n nfchain.edge.last address add 2001:2:0:fc9d::4 peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.last:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.last neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::4 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::4
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::4 lladdr 02:33:07:8e:b6:d6 dev eth0 nud permanent

# route:nfchain.edge.last:198.19.39.96/27
ip -n nfchain.edge.last route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.68 dev eth0 onlink proto 78

# route:nfchain.edge.last:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.last route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::4 dev eth0 onlink proto 78

# qdisc:nfchain.edge.box:eth0
tc -n nfchain.edge.box qdisc replace dev eth0 root handle 1: htb default 1
tc -n nfchain.edge.box class replace dev eth0 parent 1:0 classid 1:1 htb prio 0 rate 1000000000bit ceil 1000000000bit burst 131250 cburst 131250 quantum 200000

# ruleset:nfchain.edge.box:nftables/nfchain-nat-destination-in/prerouting
ip netns exec nfchain.edge.box nft -f - <<'END-OF-INPUT'
table inet nfchain-nat-destination-in
delete table inet nfchain-nat-destination-in
table inet nfchain-nat-destination-in {
	chain prerouting {
		type nat hook prerouting priority -100; policy accept;
		iifname "eth0" ip daddr 198.19.39.109/32 meta l4proto tcp th dport 80 counter dnat ip to 198.19.39.118 comment "to 198.19.39.118"
		iifname "eth0" ip6 daddr 2001:2:0:fc9d:8000::d/128 meta l4proto tcp th dport 80 counter dnat ip6 to 2001:2:0:fc9d:8000::16 comment "to 2001:2:0:fc9d:8000::16"
	}
	chain content-1a659d5241e39372 {
	}
}
END-OF-INPUT

# ruleset:nfchain.edge.box:nftables/nfchain-firewall-fw-forward/forward
ip netns exec nfchain.edge.box nft -f - <<'END-OF-INPUT'
table inet nfchain-firewall-fw-forward
delete table inet nfchain-firewall-fw-forward
table inet nfchain-firewall-fw-forward {
	chain forward {
		type filter hook forward priority -1; policy drop;
		iifname "eth1" accept
		iifname "eth0" meta l4proto tcp counter accept
		counter
	}
	chain content-db175315fd64510c {
	}
}
END-OF-INPUT

# ruleset:nfchain.edge.box:nftables/nfchain-firewall-fw-reverse/forward
ip netns exec nfchain.edge.box nft -f - <<'END-OF-INPUT'
table inet nfchain-firewall-fw-reverse
delete table inet nfchain-firewall-fw-reverse
table inet nfchain-firewall-fw-reverse {
	chain forward {
		type filter hook forward priority 1; policy drop;
		iifname "eth0" accept
		iifname "eth1" meta l4proto tcp counter accept
		counter
	}
	chain content-46f2d1a14ba52df4 {
	}
}
END-OF-INPUT

# ruleset:nfchain.edge.box:iptables/nfchain/forward
ip netns exec nfchain.edge.box iptables-restore <<'END-OF-INPUT'
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:nfchain-5bc0c714ff600983 - [0:0]
-A FORWARD -j nfchain-5bc0c714ff600983
COMMIT
END-OF-INPUT
ip netns exec nfchain.edge.box ip6tables-restore <<'END-OF-INPUT'
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:nfchain-5bc0c714ff600983 - [0:0]
-A FORWARD -j nfchain-5bc0c714ff600983
COMMIT
END-OF-INPUT

# ruleset:nfchain.edge.box:nftables/nfchain-firewall-there/forward
ip netns exec nfchain.edge.box nft -f - <<'END-OF-INPUT'
table inet nfchain-firewall-there
delete table inet nfchain-firewall-there
table inet nfchain-firewall-there {
	chain forward {
		type filter hook forward priority 1; policy accept;
		iifname "eth1" accept
	}
	chain content-e12d417294bc9024 {
	}
}
END-OF-INPUT

# names:web: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"web","hosts":["198.19.39.88 client","2001:2:0:fc9d::18 client","198.19.39.109 box","198.19.39.109 a","198.19.39.109 limit","198.19.39.109 in","198.19.39.109 fw","198.19.39.109 old","198.19.39.109 there","198.19.39.109 web","2001:2:0:fc9d:8000::d box","2001:2:0:fc9d:8000::d a","2001:2:0:fc9d:8000::d limit","2001:2:0:fc9d:8000::d in","2001:2:0:fc9d:8000::d fw","2001:2:0:fc9d:8000::d old","2001:2:0:fc9d:8000::d there","2001:2:0:fc9d:8000::d web","198.19.39.100 last","2001:2:0:fc9d:8000::4 last","198.19.39.118 server","2001:2:0:fc9d:8000::16 server"]}
END-OF-INPUT

# process:web: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"web","netns":"nfchain.edge.box","args":["sleep","inf"],"env":[],"restart":"always","ready":{"timeout_s":10}}
END-OF-INPUT
