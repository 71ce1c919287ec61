#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:port66af2df6, steer:nfchain.edge._wiring:port15786197, steer:nfchain.edge._wiring:porte974f13d, label:nfchain.edge.tell-1:eth1, steer:nfchain.edge._wiring:port4c281cbf, steer:nfchain.edge._wiring:portda2db186, steer:nfchain.edge._wiring:port7df5be7b, label:nfchain.edge.tell-2:eth1, steer:nfchain.edge._wiring:port081fcaf7, steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port0676ea00, steer:nfchain.edge._wiring:porte653113b, steer:nfchain.edge._wiring:port1acc9978, steer:nfchain.edge._wiring:port0838b319, steer:nfchain.edge._wiring:port46665e71, steer:nfchain.edge._wiring:port76e43ebe, steer:nfchain.edge._wiring:portfde823b9, steer:nfchain.edge._wiring:port7c10c39c, steer:nfchain.edge._wiring:portf892c148, steer:nfchain.edge._wiring:port1b079659, health:nfchain.edge._wiring:path; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.tell-1
ip netns add nfchain.edge.tell-1
ip -n nfchain.edge.tell-1 link set lo up
ip netns exec nfchain.edge.tell-1 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.tell-1 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.tell-1 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.tell-1 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.tell-1 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.tell-1 sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.check-1
ip netns add nfchain.edge.check-1
ip -n nfchain.edge.check-1 link set lo up
ip netns exec nfchain.edge.check-1 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.check-1 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.check-1 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.check-1 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.check-1 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.check-1 sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.log
ip netns add nfchain.edge.log
ip -n nfchain.edge.log link set lo up
ip netns exec nfchain.edge.log sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.log sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.log sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.log sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.out-1
ip netns add nfchain.edge.out-1
ip -n nfchain.edge.out-1 link set lo up
ip netns exec nfchain.edge.out-1 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.out-1 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.out-1 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.out-1 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.out-1 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.out-1 sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge._wiring
ip netns add nfchain.edge._wiring
ip -n nfchain.edge._wiring link set lo up
ip netns exec nfchain.edge._wiring sysctl -qw net.ipv6.conf.all.disable_ipv6=1
ip netns exec nfchain.edge._wiring sysctl -qw net.ipv6.conf.default.disable_ipv6=1

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name port9bd1f3d1 address 22:93:66:cd:1a:84 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=_wiring:port9bd1f3d1'
ip -n nfchain.edge._wiring link set port9bd1f3d1 up alias 'nfchain edge client:eth0=_wiring:port9bd1f3d1'

# link:nfchain.edge.tell-1:eth0
ip -n nfchain.edge.tell-1 link add eth0 address 02:f3:0c:78:90:61 mtu 1500 type veth peer name port66af2df6 address aa:6c:a5:aa:66:14 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.tell-1 link set eth0 up alias 'nfchain edge tell-1:eth0=_wiring:port66af2df6'
ip -n nfchain.edge._wiring link set port66af2df6 up alias 'nfchain edge tell-1:eth0=_wiring:port66af2df6'

# steer:nfchain.edge._wiring:port66af2df6: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port66af2df6","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.tell-1:eth1
ip -n nfchain.edge.tell-1 link add eth1 address 02:8a:d9:bb:d5:29 mtu 1500 type veth peer name port0676ea00 address 82:2d:69:81:a2:97 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.tell-1 link set eth1 up alias 'nfchain edge tell-1:eth1=_wiring:port0676ea00'
ip -n nfchain.edge._wiring link set port0676ea00 up alias 'nfchain edge tell-1:eth1=_wiring:port0676ea00'

# link:nfchain.edge.check-1:eth0
ip -n nfchain.edge.check-1 link add eth0 address 02:97:b5:15:ed:58 mtu 1500 type veth peer name porte653113b address c2:9b:72:50:d1:ad mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.check-1 link set eth0 up alias 'nfchain edge check-1:eth0=_wiring:porte653113b'
ip -n nfchain.edge._wiring link set porte653113b up alias 'nfchain edge check-1:eth0=_wiring:porte653113b'

# link:nfchain.edge.check-1:eth1
ip -n nfchain.edge.check-1 link add eth1 address 02:0a:d0:2e:df:8b mtu 1500 type veth peer name port15786197 address da:0b:fe:e0:c8:9c mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.check-1 link set eth1 up alias 'nfchain edge check-1:eth1=_wiring:port15786197'
ip -n nfchain.edge._wiring link set port15786197 up alias 'nfchain edge check-1:eth1=_wiring:port15786197'

# link:nfchain.edge.log:eth0
ip -n nfchain.edge.log link add eth0 address 02:c9:d5:0e:4d:7a mtu 1500 type veth peer name port1acc9978 address be:f3:55:95:44:c2 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.log link set eth0 up alias 'nfchain edge log:eth0=_wiring:port1acc9978'
ip -n nfchain.edge._wiring link set port1acc9978 up alias 'nfchain edge log:eth0=_wiring:port1acc9978'

# steer:nfchain.edge._wiring:port15786197: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port15786197","to":"port1acc9978","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.log:eth1
ip -n nfchain.edge.log link add eth1 address 02:62:4c:e4:7a:55 mtu 1500 type veth peer name port0838b319 address 5a:7a:af:38:5b:9f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.log link set eth1 up alias 'nfchain edge log:eth1=_wiring:port0838b319'
ip -n nfchain.edge._wiring link set port0838b319 up alias 'nfchain edge log:eth1=_wiring:port0838b319'

# link:nfchain.edge.out-1:eth0
ip -n nfchain.edge.out-1 link add eth0 address 02:36:54:5e:23:0e mtu 1500 type veth peer name port46665e71 address f2:7e:3a:04:25:52 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.out-1 link set eth0 up alias 'nfchain edge out-1:eth0=_wiring:port46665e71'
ip -n nfchain.edge._wiring link set port46665e71 up alias 'nfchain edge out-1:eth0=_wiring:port46665e71'

# link:nfchain.edge.out-1:eth1
ip -n nfchain.edge.out-1 link add eth1 address 02:2e:d3:06:26:8d mtu 1500 type veth peer name porte974f13d address 2e:34:81:dd:33:60 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.out-1 link set eth1 up alias 'nfchain edge out-1:eth1=_wiring:porte974f13d'
ip -n nfchain.edge._wiring link set porte974f13d up alias 'nfchain edge out-1:eth1=_wiring:porte974f13d'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:porte974f13d: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"porte974f13d","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.tell-1:eth0=198.19.39.110
ip -n nfchain.edge.tell-1 address add 198.19.39.110 dev eth0

# neighbour:nfchain.edge.tell-1:eth0=198.19.39.64
ip -n nfchain.edge.tell-1 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.tell-1:eth0=2001:2:0:fc9d:8000::e
ip -n nfchain.edge.tell-1 address add 2001:2:0:fc9d:8000::e dev eth0 nodad

# neighbour:nfchain.edge.tell-1:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.tell-1 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.tell-1:198.19.39.64/27
ip -n nfchain.edge.tell-1 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.tell-1:2001:2:0:fc9d::/65
ip -n nfchain.edge.tell-1 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.tell-1:eth1=198.19.39.78
ip -n nfchain.edge.tell-1 address add 198.19.39.78 dev eth1

# neighbour:nfchain.edge.tell-1:eth1=198.19.39.96
ip -n nfchain.edge.tell-1 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.check-1:eth0=198.19.39.112
ip -n nfchain.edge.check-1 address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.check-1:eth0=198.19.39.64
ip -n nfchain.edge.check-1 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.tell-1:eth1=2001:2:0:fc9d::e
ip -n nfchain.edge.tell-1 address add 2001:2:0:fc9d::e dev eth1 nodad

# neighbour:nfchain.edge.tell-1:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.tell-1 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.check-1:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.check-1 address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.check-1:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.check-1 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.tell-1:198.19.39.96/27
ip -n nfchain.edge.tell-1 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.check-1:198.19.39.64/27
ip -n nfchain.edge.check-1 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.tell-1:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.tell-1 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.check-1:2001:2:0:fc9d::/65
ip -n nfchain.edge.check-1 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.check-1:eth1=198.19.39.80
ip -n nfchain.edge.check-1 address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.check-1:eth1=198.19.39.96
ip -n nfchain.edge.check-1 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out-1:eth0=198.19.39.114
ip -n nfchain.edge.out-1 address add 198.19.39.114 dev eth0

# neighbour:nfchain.edge.out-1:eth0=198.19.39.64
ip -n nfchain.edge.out-1 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.check-1:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.check-1 address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.check-1:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.check-1 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out-1:eth0=2001:2:0:fc9d:8000::12
ip -n nfchain.edge.out-1 address add 2001:2:0:fc9d:8000::12 dev eth0 nodad

# neighbour:nfchain.edge.out-1:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.out-1 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.check-1:198.19.39.96/27
ip -n nfchain.edge.check-1 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.out-1:198.19.39.64/27
ip -n nfchain.edge.out-1 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.check-1:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.check-1 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.out-1:2001:2:0:fc9d::/65
ip -n nfchain.edge.out-1 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.out-1:eth1=198.19.39.82
ip -n nfchain.edge.out-1 address add 198.19.39.82 dev eth1

# neighbour:nfchain.edge.out-1:eth1=198.19.39.96
ip -n nfchain.edge.out-1 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.out-1:eth1=2001:2:0:fc9d::12
ip -n nfchain.edge.out-1 address add 2001:2:0:fc9d::12 dev eth1 nodad

# neighbour:nfchain.edge.out-1:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.out-1 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.out-1:198.19.39.96/27
ip -n nfchain.edge.out-1 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.out-1:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.out-1 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# label:nfchain.edge.tell-1:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge label nfchain.edge.tell-1 <<'END-OF-INPUT'
{"device":"eth1","rules":[{"mark":"0x1","mask":"0xffffffff","node":"check","label":30213}]}
END-OF-INPUT

# ruleset:nfchain.edge.check-1:nftables/nfchain-firewall/forward
ip netns exec nfchain.edge.check-1 nft -f - <<'END-OF-INPUT'
table inet nfchain-firewall
delete table inet nfchain-firewall
table inet nfchain-firewall {
	chain forward {
		type filter hook forward priority 0; policy accept;
	}
	chain content-b05c9935c31cd8e2 {
	}
}
END-OF-INPUT

# bridge:nfchain.edge.log:br0
ip netns exec nfchain.edge.log sh -c 'for f in /proc/sys/net/bridge/bridge-nf-call-*tables; do [ ! -e "$f" ] || echo 0 >"$f"; done'
ip -n nfchain.edge.log link add name br0 address 02:24:7e:ae:46:1e type bridge forward_delay 200 stp_state 0 mcast_snooping 0 ageing_time 30000
ip -n nfchain.edge.log link set br0 mtu 1500 up alias 'nfchain edge bridge:log'

# bridgeport:nfchain.edge.log:eth0
ip -n nfchain.edge.log link set eth0 master br0
ip -n nfchain.edge.log link set eth0 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.log bridge fdb replace 02:5d:f7:fa:6a:e9 dev eth0 master static

# bridgeport:nfchain.edge.log:eth1
ip -n nfchain.edge.log link set eth1 master br0
ip -n nfchain.edge.log link set eth1 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.log bridge fdb replace 02:c7:92:d3:3d:71 dev eth1 master static

# namespace:nfchain.edge.tell-2
ip netns add nfchain.edge.tell-2
ip -n nfchain.edge.tell-2 link set lo up
ip netns exec nfchain.edge.tell-2 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.tell-2 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.tell-2 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.tell-2 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.tell-2 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.tell-2 sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.check-2
ip netns add nfchain.edge.check-2
ip -n nfchain.edge.check-2 link set lo up
ip netns exec nfchain.edge.check-2 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.check-2 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.check-2 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.check-2 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.check-2 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.check-2 sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.out-2
ip netns add nfchain.edge.out-2
ip -n nfchain.edge.out-2 link set lo up
ip netns exec nfchain.edge.out-2 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.out-2 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.out-2 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.out-2 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.out-2 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.out-2 sysctl -qw net.ipv6.conf.all.forwarding=1

# link:nfchain.edge.tell-2:eth0
ip -n nfchain.edge.tell-2 link add eth0 address 02:a6:32:a5:f8:9e mtu 1500 type veth peer name port4c281cbf address 16:c6:0e:33:89:43 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.tell-2 link set eth0 up alias 'nfchain edge tell-2:eth0=_wiring:port4c281cbf'
ip -n nfchain.edge._wiring link set port4c281cbf up alias 'nfchain edge tell-2:eth0=_wiring:port4c281cbf'

# steer:nfchain.edge._wiring:port4c281cbf: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port4c281cbf","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.tell-2:eth1
ip -n nfchain.edge.tell-2 link add eth1 address 02:28:b8:12:23:05 mtu 1500 type veth peer name portfde823b9 address 32:fb:95:bd:2b:96 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.tell-2 link set eth1 up alias 'nfchain edge tell-2:eth1=_wiring:portfde823b9'
ip -n nfchain.edge._wiring link set portfde823b9 up alias 'nfchain edge tell-2:eth1=_wiring:portfde823b9'

# link:nfchain.edge.check-2:eth0
ip -n nfchain.edge.check-2 link add eth0 address 02:80:96:72:94:d8 mtu 1500 type veth peer name port7c10c39c address d2:81:e5:32:da:0e mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.check-2 link set eth0 up alias 'nfchain edge check-2:eth0=_wiring:port7c10c39c'
ip -n nfchain.edge._wiring link set port7c10c39c up alias 'nfchain edge check-2:eth0=_wiring:port7c10c39c'

# link:nfchain.edge.check-2:eth1
ip -n nfchain.edge.check-2 link add eth1 address 02:7a:e1:9e:06:db mtu 1500 type veth peer name portda2db186 address 0e:b0:1b:ab:db:5e mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.check-2 link set eth1 up alias 'nfchain edge check-2:eth1=_wiring:portda2db186'
ip -n nfchain.edge._wiring link set portda2db186 up alias 'nfchain edge check-2:eth1=_wiring:portda2db186'

# steer:nfchain.edge._wiring:portda2db186: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portda2db186","to":"port1acc9978","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.out-2:eth0
ip -n nfchain.edge.out-2 link add eth0 address 02:d4:6b:0a:4a:91 mtu 1500 type veth peer name portf892c148 address 9a:fe:ec:a8:c8:76 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.out-2 link set eth0 up alias 'nfchain edge out-2:eth0=_wiring:portf892c148'
ip -n nfchain.edge._wiring link set portf892c148 up alias 'nfchain edge out-2:eth0=_wiring:portf892c148'

# link:nfchain.edge.out-2:eth1
ip -n nfchain.edge.out-2 link add eth1 address 02:13:61:3f:f5:17 mtu 1500 type veth peer name port7df5be7b address 0e:4a:17:40:33:75 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.out-2 link set eth1 up alias 'nfchain edge out-2:eth1=_wiring:port7df5be7b'
ip -n nfchain.edge._wiring link set port7df5be7b up alias 'nfchain edge out-2:eth1=_wiring:port7df5be7b'

# steer:nfchain.edge._wiring:port7df5be7b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port7df5be7b","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.tell-2:eth0=198.19.39.110
ip -n nfchain.edge.tell-2 address add 198.19.39.110 dev eth0

# neighbour:nfchain.edge.tell-2:eth0=198.19.39.64
ip -n nfchain.edge.tell-2 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.tell-2:eth0=2001:2:0:fc9d:8000::e
ip -n nfchain.edge.tell-2 address add 2001:2:0:fc9d:8000::e dev eth0 nodad

# neighbour:nfchain.edge.tell-2:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.tell-2 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.tell-2:198.19.39.64/27
ip -n nfchain.edge.tell-2 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.tell-2:2001:2:0:fc9d::/65
ip -n nfchain.edge.tell-2 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.tell-2:eth1=198.19.39.78
ip -n nfchain.edge.tell-2 address add 198.19.39.78 dev eth1

# neighbour:nfchain.edge.tell-2:eth1=198.19.39.96
ip -n nfchain.edge.tell-2 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.check-2:eth0=198.19.39.112
ip -n nfchain.edge.check-2 address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.check-2:eth0=198.19.39.64
ip -n nfchain.edge.check-2 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.tell-2:eth1=2001:2:0:fc9d::e
ip -n nfchain.edge.tell-2 address add 2001:2:0:fc9d::e dev eth1 nodad

# neighbour:nfchain.edge.tell-2:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.tell-2 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.check-2:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.check-2 address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.check-2:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.check-2 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.tell-2:198.19.39.96/27
ip -n nfchain.edge.tell-2 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.check-2:198.19.39.64/27
ip -n nfchain.edge.check-2 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.tell-2:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.tell-2 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.check-2:2001:2:0:fc9d::/65
ip -n nfchain.edge.check-2 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.check-2:eth1=198.19.39.80
ip -n nfchain.edge.check-2 address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.check-2:eth1=198.19.39.96
ip -n nfchain.edge.check-2 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out-2:eth0=198.19.39.114
ip -n nfchain.edge.out-2 address add 198.19.39.114 dev eth0

# neighbour:nfchain.edge.out-2:eth0=198.19.39.64
ip -n nfchain.edge.out-2 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.check-2:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.check-2 address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.check-2:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.check-2 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out-2:eth0=2001:2:0:fc9d:8000::12
ip -n nfchain.edge.out-2 address add 2001:2:0:fc9d:8000::12 dev eth0 nodad

# neighbour:nfchain.edge.out-2:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.out-2 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.check-2:198.19.39.96/27
ip -n nfchain.edge.check-2 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.out-2:198.19.39.64/27
ip -n nfchain.edge.out-2 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.check-2:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.check-2 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.out-2:2001:2:0:fc9d::/65
ip -n nfchain.edge.out-2 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.out-2:eth1=198.19.39.82
ip -n nfchain.edge.out-2 address add 198.19.39.82 dev eth1

# neighbour:nfchain.edge.out-2:eth1=198.19.39.96
ip -n nfchain.edge.out-2 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out-2:eth1=2001:2:0:fc9d::12
ip -n nfchain.edge.out-2 address add 2001:2:0:fc9d::12 dev eth1 nodad

# neighbour:nfchain.edge.out-2:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.out-2 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# route:nfchain.edge.out-2:198.19.39.96/27
ip -n nfchain.edge.out-2 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.out-2:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.out-2 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# label:nfchain.edge.tell-2:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge label nfchain.edge.tell-2 <<'END-OF-INPUT'
{"device":"eth1","rules":[{"mark":"0x1","mask":"0xffffffff","node":"check","label":30213}]}
END-OF-INPUT

# ruleset:nfchain.edge.check-2:nftables/nfchain-firewall/forward
ip netns exec nfchain.edge.check-2 nft -f - <<'END-OF-INPUT'
table inet nfchain-firewall
delete table inet nfchain-firewall
table inet nfchain-firewall {
	chain forward {
		type filter hook forward priority 0; policy accept;
	}
	chain content-b05c9935c31cd8e2 {
	}
}
END-OF-INPUT

# namespace:nfchain.edge.check-3
ip netns add nfchain.edge.check-3
ip -n nfchain.edge.check-3 link set lo up
ip netns exec nfchain.edge.check-3 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.check-3 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.check-3 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.check-3 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.check-3 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.check-3 sysctl -qw net.ipv6.conf.all.forwarding=1

# link:nfchain.edge.check-3:eth0
ip -n nfchain.edge.check-3 link add eth0 address 02:e5:10:12:d6:92 mtu 1500 type veth peer name port1b079659 address 1e:b1:ff:47:df:08 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.check-3 link set eth0 up alias 'nfchain edge check-3:eth0=_wiring:port1b079659'
ip -n nfchain.edge._wiring link set port1b079659 up alias 'nfchain edge check-3:eth0=_wiring:port1b079659'

# link:nfchain.edge.check-3:eth1
ip -n nfchain.edge.check-3 link add eth1 address 02:10:27:2d:71:74 mtu 1500 type veth peer name port081fcaf7 address 4a:13:c3:88:0c:2f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.check-3 link set eth1 up alias 'nfchain edge check-3:eth1=_wiring:port081fcaf7'
ip -n nfchain.edge._wiring link set port081fcaf7 up alias 'nfchain edge check-3:eth1=_wiring:port081fcaf7'

# steer:nfchain.edge._wiring:port081fcaf7: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port081fcaf7","to":"port1acc9978","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.check-3:eth0=198.19.39.112
ip -n nfchain.edge.check-3 address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.check-3:eth0=198.19.39.64
ip -n nfchain.edge.check-3 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.check-3:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.check-3 address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.check-3:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.check-3 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.check-3:198.19.39.64/27
ip -n nfchain.edge.check-3 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.check-3:2001:2:0:fc9d::/65
ip -n nfchain.edge.check-3 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.check-3:eth1=198.19.39.80
ip -n nfchain.edge.check-3 address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.check-3:eth1=198.19.39.96
ip -n nfchain.edge.check-3 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.check-3:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.check-3 address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.check-3:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.check-3 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# route:nfchain.edge.check-3:198.19.39.96/27
ip -n nfchain.edge.check-3 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.check-3:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.check-3 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# ruleset:nfchain.edge.check-3:nftables/nfchain-firewall/forward
ip netns exec nfchain.edge.check-3 nft -f - <<'END-OF-INPUT'
table inet nfchain-firewall
delete table inet nfchain-firewall
table inet nfchain-firewall {
	chain forward {
		type filter hook forward priority 0; policy accept;
	}
	chain content-b05c9935c31cd8e2 {
	}
}
END-OF-INPUT

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","among":{"of":"tell","replicas":[{"number":1,"port":"port66af2df6","weight":1},{"number":2,"port":"port4c281cbf","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port0676ea00: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port0676ea00","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"tell","number":39179,"ways":[{"node":"out","number":17044,"joint":true},{"node":"check","number":30213}],"among":[{"of":"out","replicas":[{"number":1,"port":"port46665e71","weight":1},{"number":2,"port":"portf892c148","weight":1}],"flows":65536,"idle":"30s"},{"of":"check","replicas":[{"number":1,"port":"porte653113b","weight":2},{"number":2,"port":"port7c10c39c","weight":1},{"number":3,"port":"port1b079659","weight":1}],"flows":65536,"idle":"30s"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:porte653113b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"porte653113b","among":{"of":"tell","replicas":[{"number":1,"port":"port0676ea00","weight":1},{"number":2,"port":"portfde823b9","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port1acc9978: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port1acc9978","among":{"of":"check","replicas":[{"number":1,"port":"port15786197","weight":2},{"number":2,"port":"portda2db186","weight":1},{"number":3,"port":"port081fcaf7","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port0838b319: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port0838b319","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"log","number":63504,"ways":[{"node":"out","number":17044,"joint":true}],"among":[{"of":"out","replicas":[{"number":1,"port":"port46665e71","weight":1},{"number":2,"port":"portf892c148","weight":1}],"flows":65536,"idle":"30s"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port46665e71: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port46665e71","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"out","number":17044,"back":true,"ways":[{"node":"tell","number":39179},{"node":"log","number":63504,"port":"port0838b319"}],"among":[{"of":"tell","replicas":[{"number":1,"port":"port0676ea00","weight":1},{"number":2,"port":"portfde823b9","weight":1}],"flows":65536,"idle":"30s"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","among":{"of":"out","replicas":[{"number":1,"port":"porte974f13d","weight":1},{"number":2,"port":"port7df5be7b","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portfde823b9: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portfde823b9","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"tell","number":39179,"ways":[{"node":"out","number":17044,"joint":true},{"node":"check","number":30213}],"among":[{"of":"out","replicas":[{"number":1,"port":"port46665e71","weight":1},{"number":2,"port":"portf892c148","weight":1}],"flows":65536,"idle":"30s"},{"of":"check","replicas":[{"number":1,"port":"porte653113b","weight":2},{"number":2,"port":"port7c10c39c","weight":1},{"number":3,"port":"port1b079659","weight":1}],"flows":65536,"idle":"30s"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port7c10c39c: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port7c10c39c","among":{"of":"tell","replicas":[{"number":1,"port":"port0676ea00","weight":1},{"number":2,"port":"portfde823b9","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portf892c148: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portf892c148","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"out","number":17044,"back":true,"ways":[{"node":"tell","number":39179},{"node":"log","number":63504,"port":"port0838b319"}],"among":[{"of":"tell","replicas":[{"number":1,"port":"port0676ea00","weight":1},{"number":2,"port":"portfde823b9","weight":1}],"flows":65536,"idle":"30s"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port1b079659: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port1b079659","among":{"of":"tell","replicas":[{"number":1,"port":"port0676ea00","weight":1},{"number":2,"port":"portfde823b9","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# health:nfchain.edge._wiring:path: no ip, tc or nft command makes this; nfchain does
nfchain apply edge health nfchain.edge._wiring <<'END-OF-INPUT'
{"forwarder":"nfchain.edge._wiring","nodes":[{"node":"client","east":"port9bd1f3d1","onward":[1,2],"label":22626},{"node":"tell-1","west":"port66af2df6","east":"port0676ea00","of":"tell","number":1,"weight":1,"onward":[7,8,3,4,5],"back":[0],"label":39179},{"node":"tell-2","west":"port4c281cbf","east":"portfde823b9","of":"tell","number":2,"weight":1,"onward":[7,8,3,4,5],"back":[0],"label":39179},{"node":"check-1","west":"porte653113b","east":"port15786197","of":"check","number":1,"weight":2,"on_failure":"replica","onward":[6],"back":[1,2],"label":30213,"version":"2807d7b1ae74ea1e","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:97:b5:15:ed:58","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:0a:d0:2e:df:8b","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:97:b5:15:ed:58","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:0a:d0:2e:df:8b","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"check-2","west":"port7c10c39c","east":"portda2db186","of":"check","number":2,"weight":1,"on_failure":"replica","onward":[6],"back":[1,2],"label":30213,"version":"8c5ea19728247ad4","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:80:96:72:94:d8","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:7a:e1:9e:06:db","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:80:96:72:94:d8","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:7a:e1:9e:06:db","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"check-3","west":"port1b079659","east":"port081fcaf7","of":"check","number":3,"weight":1,"on_failure":"replica","onward":[6],"back":[1,2],"label":30213,"version":"d3619a7760980602","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:e5:10:12:d6:92","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:10:27:2d:71:74","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:e5:10:12:d6:92","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:10:27:2d:71:74","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"log","west":"port1acc9978","east":"port0838b319","onward":[7,8],"back":[3,4,5],"label":63504},{"node":"out-1","west":"port46665e71","east":"porte974f13d","of":"out","number":1,"weight":1,"onward":[9],"back":[1,2,6],"label":17044},{"node":"out-2","west":"portf892c148","east":"port7df5be7b","of":"out","number":2,"weight":1,"onward":[9],"back":[1,2,6],"label":17044},{"node":"server","west":"port76e43ebe","back":[7,8],"label":18567}]}
END-OF-INPUT
