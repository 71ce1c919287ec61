#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port49075c1f, steer:nfchain.edge._wiring:port321a69db, steer:nfchain.edge._wiring:portf2d61d88, steer:nfchain.edge._wiring:portb4905765, steer:nfchain.edge._wiring:port2fbb4293, steer:nfchain.edge._wiring:port0bb2d3cb, steer:nfchain.edge._wiring:port76e43ebe, process:bad, health:nfchain.edge._wiring:path; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.a
ip netns add nfchain.edge.a
ip -n nfchain.edge.a link set lo up
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.b
ip netns add nfchain.edge.b
ip -n nfchain.edge.b link set lo up
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.bad
ip netns add nfchain.edge.bad
ip -n nfchain.edge.bad link set lo up
ip netns exec nfchain.edge.bad sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.bad sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.bad sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.bad sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.bad sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.bad sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.a:eth0
ip -n nfchain.edge.a link add eth0 address 02:9a:e9:39:06:ac mtu 1500 type veth peer name port49075c1f address 06:a0:8b:56:1d:0b mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a link set eth0 up alias 'nfchain edge a:eth0=_wiring:port49075c1f'
ip -n nfchain.edge._wiring link set port49075c1f up alias 'nfchain edge a:eth0=_wiring:port49075c1f'

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","to":"port49075c1f","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port49075c1f: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port49075c1f","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.a:eth1
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name port321a69db address 42:18:00:2d:b3:4f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=_wiring:port321a69db'
ip -n nfchain.edge._wiring link set port321a69db up alias 'nfchain edge a:eth1=_wiring:port321a69db'

# link:nfchain.edge.b:eth0
ip -n nfchain.edge.b link add eth0 address 02:2a:55:72:f0:dd mtu 1500 type veth peer name portf2d61d88 address 96:04:6a:a1:36:73 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b link set eth0 up alias 'nfchain edge b:eth0=_wiring:portf2d61d88'
ip -n nfchain.edge._wiring link set portf2d61d88 up alias 'nfchain edge b:eth0=_wiring:portf2d61d88'

# steer:nfchain.edge._wiring:port321a69db: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port321a69db","to":"portf2d61d88","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portf2d61d88: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portf2d61d88","to":"port321a69db","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.b:eth1
ip -n nfchain.edge.b link add eth1 address 02:79:f1:51:ea:17 mtu 1500 type veth peer name portb4905765 address 66:07:81:58:73:7c mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b link set eth1 up alias 'nfchain edge b:eth1=_wiring:portb4905765'
ip -n nfchain.edge._wiring link set portb4905765 up alias 'nfchain edge b:eth1=_wiring:portb4905765'

# link:nfchain.edge.bad:eth0
ip -n nfchain.edge.bad link add eth0 address 02:a5:d3:c4:79:ef mtu 1500 type veth peer name port2fbb4293 address 42:3d:0d:dd:76:85 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.bad link set eth0 up alias 'nfchain edge bad:eth0=_wiring:port2fbb4293'
ip -n nfchain.edge._wiring link set port2fbb4293 up alias 'nfchain edge bad:eth0=_wiring:port2fbb4293'

# steer:nfchain.edge._wiring:portb4905765: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portb4905765","to":"port2fbb4293","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port2fbb4293: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port2fbb4293","to":"portb4905765","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.bad:eth1
ip -n nfchain.edge.bad link add eth1 address 02:1a:29:85:44:4e mtu 1500 type veth peer name port0bb2d3cb address 4a:04:c6:d0:27:0d mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.bad link set eth1 up alias 'nfchain edge bad:eth1=_wiring:port0bb2d3cb'
ip -n nfchain.edge._wiring link set port0bb2d3cb up alias 'nfchain edge bad:eth1=_wiring:port0bb2d3cb'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:port0bb2d3cb: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port0bb2d3cb","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","to":"port0bb2d3cb","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.a:eth0=198.19.39.112
ip -n nfchain.edge.a address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.a:eth0=198.19.39.64
ip -n nfchain.edge.a neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.a:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.a:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.a:198.19.39.64/27
ip -n nfchain.edge.a route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.a:eth1=198.19.39.80
ip -n nfchain.edge.a address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.a:eth1=198.19.39.96
ip -n nfchain.edge.a neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.bad:eth0=198.19.39.117
ip -n nfchain.edge.bad address add 198.19.39.117 dev eth0

# neighbour:nfchain.edge.bad:eth0=198.19.39.64
ip -n nfchain.edge.bad neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.bad:eth0=2001:2:0:fc9d:8000::15
ip -n nfchain.edge.bad address add 2001:2:0:fc9d:8000::15 dev eth0 nodad

# neighbour:nfchain.edge.bad:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.bad neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.bad:198.19.39.64/27
ip -n nfchain.edge.bad route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.bad:2001:2:0:fc9d::/65
ip -n nfchain.edge.bad route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.bad:eth1=198.19.39.85
ip -n nfchain.edge.bad address add 198.19.39.85 dev eth1

# neighbour:nfchain.edge.bad:eth1=198.19.39.96
ip -n nfchain.edge.bad neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.bad:eth1=2001:2:0:fc9d::15
ip -n nfchain.edge.bad address add 2001:2:0:fc9d::15 dev eth1 nodad

# neighbour:nfchain.edge.bad:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.bad neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.bad:198.19.39.96/27
ip -n nfchain.edge.bad route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.bad:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.bad route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# bridge:nfchain.edge.b:br0
ip netns exec nfchain.edge.b sh -c 'for f in /proc/sys/net/bridge/bridge-nf-call-*tables; do [ ! -e "$f" ] || echo 0 >"$f"; done'
ip -n nfchain.edge.b link add name br0 address 02:b5:b7:0c:31:93 type bridge forward_delay 200 stp_state 0 mcast_snooping 0 ageing_time 30000
ip -n nfchain.edge.b link set br0 mtu 1500 up alias 'nfchain edge bridge:b'

# bridgeport:nfchain.edge.b:eth0
ip -n nfchain.edge.b link set eth0 master br0
ip -n nfchain.edge.b link set eth0 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.b bridge fdb replace 02:5d:f7:fa:6a:e9 dev eth0 master static

# bridgeport:nfchain.edge.b:eth1
ip -n nfchain.edge.b link set eth1 master br0
ip -n nfchain.edge.b link set eth1 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.b bridge fdb replace 02:c7:92:d3:3d:71 dev eth1 master static

# tun:nfchain.edge.bad:impair0
ip -n nfchain.edge.bad tuntap add dev impair0 mode tun
ip -n nfchain.edge.bad link set impair0 mtu 65535 txqueuelen 8192 up alias 'nfchain edge tun:bad'
tc -n nfchain.edge.bad qdisc replace dev impair0 root noqueue

# tun:nfchain.edge.bad:impair1
ip -n nfchain.edge.bad tuntap add dev impair1 mode tun
ip -n nfchain.edge.bad link set impair1 mtu 65535 txqueuelen 8192 up alias 'nfchain edge tun:bad'
tc -n nfchain.edge.bad qdisc replace dev impair1 root noqueue

# redirect:nfchain.edge.bad:eth0
tc -n nfchain.edge.bad qdisc add dev eth0 clsact
tc -n nfchain.edge.bad filter add dev eth0 ingress protocol ip prio 7801 u32 match u32 0xe0000000 0xe0000000 at 16 flowid :1
tc -n nfchain.edge.bad filter add dev eth0 ingress protocol ip prio 7802 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress redirect dev impair0
tc -n nfchain.edge.bad filter add dev eth0 ingress protocol ipv6 prio 7803 u32 match u32 0xfe000000 0xfe000000 at 24 flowid :1
tc -n nfchain.edge.bad filter add dev eth0 ingress protocol ipv6 prio 7804 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress redirect dev impair0

# redirect:nfchain.edge.bad:eth1
tc -n nfchain.edge.bad qdisc add dev eth1 clsact
tc -n nfchain.edge.bad filter add dev eth1 ingress protocol ip prio 7801 u32 match u32 0xe0000000 0xe0000000 at 16 flowid :1
tc -n nfchain.edge.bad filter add dev eth1 ingress protocol ip prio 7802 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress redirect dev impair1
tc -n nfchain.edge.bad filter add dev eth1 ingress protocol ipv6 prio 7803 u32 match u32 0xfe000000 0xfe000000 at 24 flowid :1
tc -n nfchain.edge.bad filter add dev eth1 ingress protocol ipv6 prio 7804 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress redirect dev impair1

# process:bad: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"bad","netns":"nfchain.edge.bad","args":["nfchain","impair-program","edge","bad","{\"ways\":[{\"name\":\"forward\",\"device\":\"impair0\"},{\"name\":\"reverse\",\"device\":\"impair1\"}],\"loss\":{},\"duplicate\":{},\"reorder\":{},\"limit\":100000,\"seed\":1}"],"own":true,"env":[],"restart":"always","ready":{"command":["nfchain","impair-program","edge","bad","{\"ways\":[{\"name\":\"forward\",\"device\":\"impair0\"},{\"name\":\"reverse\",\"device\":\"impair1\"}],\"loss\":{},\"duplicate\":{},\"reorder\":{},\"limit\":100000,\"seed\":1}","--ready"],"timeout_s":10}}
END-OF-INPUT

# health:nfchain.edge._wiring:path: no ip, tc or nft command makes this; nfchain does
nfchain apply edge health nfchain.edge._wiring <<'END-OF-INPUT'
{"forwarder":"nfchain.edge._wiring","nodes":[{"node":"client","east":"port9bd1f3d1"},{"node":"a","west":"port49075c1f","east":"port321a69db","on_failure":"bypass","version":"1da9ec62360f78af","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:9a:e9:39:06:ac","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:f7:f0:5b:5b:42","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:9a:e9:39:06:ac","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:f7:f0:5b:5b:42","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"b","west":"portf2d61d88","east":"portb4905765","on_failure":"block","version":"398611ee45e270c7","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:c7:92:d3:3d:71","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:5d:f7:fa:6a:e9","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:c7:92:d3:3d:71","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:5d:f7:fa:6a:e9","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"bad","west":"port2fbb4293","east":"port0bb2d3cb","on_failure":"bypass","version":"2b84667a87bd73aa","programs":["bad"],"eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:a5:d3:c4:79:ef","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:1a:29:85:44:4e","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:a5:d3:c4:79:ef","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:1a:29:85:44:4e","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"server","west":"port76e43ebe"}]}
END-OF-INPUT
