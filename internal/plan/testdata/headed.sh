#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes names:relay, process:relay, nsh-push:nfchain.edge.relay:eth0, nsh-pop:nfchain.edge._wiring:sendfd7e4a88, nsh-push:nfchain.edge.relay:eth1, nsh-pop:nfchain.edge._wiring:send9def02d0, steer:nfchain.edge._wiring:port49075c1f, steer:nfchain.edge._wiring:port321a69db, steer:nfchain.edge._wiring:sendfd7e4a88, steer:nfchain.edge._wiring:send9def02d0, steer:nfchain.edge._wiring:portf2d61d88, steer:nfchain.edge._wiring:portb4905765, steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port76e43ebe; nothing was made' >&2; exit 3; }

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

# namespace:nfchain.edge.relay
ip netns add nfchain.edge.relay
ip -n nfchain.edge.relay link set lo up
ip netns exec nfchain.edge.relay sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.relay sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.relay sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.relay sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.b
ip netns add nfchain.edge.b
ip -n nfchain.edge.b link set lo up
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.a:eth1
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name port321a69db address 42:18:00:2d:b3:4f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=_wiring:port321a69db'
ip -n nfchain.edge._wiring link set port321a69db up alias 'nfchain edge a:eth1=_wiring:port321a69db'

# link:nfchain.edge.relay:eth0
ip -n nfchain.edge.relay link add eth0 address 02:8c:d5:bf:01:bd mtu 1530 type veth peer name sendfd7e4a88 address 66:86:47:7e:d6:7d mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.relay sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
ip -n nfchain.edge.relay link set eth0 up alias 'nfchain edge relay:eth0=_wiring:sendfd7e4a88 quiet'
ip -n nfchain.edge._wiring link set sendfd7e4a88 up alias 'nfchain edge relay:eth0=_wiring:sendfd7e4a88 quiet'

# link:nfchain.edge.relay:eth1
ip -n nfchain.edge.relay link add eth1 address 02:d7:42:7b:86:05 mtu 1530 type veth peer name send9def02d0 address 2a:19:c6:2d:2e:6b mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.relay sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1
ip -n nfchain.edge.relay link set eth1 up alias 'nfchain edge relay:eth1=_wiring:send9def02d0 quiet'
ip -n nfchain.edge._wiring link set send9def02d0 up alias 'nfchain edge relay:eth1=_wiring:send9def02d0 quiet'

# link:nfchain.edge.b:eth0
ip -n nfchain.edge.b link add eth0 address 02:2a:55:72:f0:dd mtu 1500 type veth peer name portf2d61d88 address 96:04:6a:a1:36:73 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b link set eth0 up alias 'nfchain edge b:eth0=_wiring:portf2d61d88'
ip -n nfchain.edge._wiring link set portf2d61d88 up alias 'nfchain edge b:eth0=_wiring:portf2d61d88'

# link:nfchain.edge.b:eth1
ip -n nfchain.edge.b link add eth1 address 02:79:f1:51:ea:17 mtu 1500 type veth peer name portb4905765 address 66:07:81:58:73:7c mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b link set eth1 up alias 'nfchain edge b:eth1=_wiring:portb4905765'
ip -n nfchain.edge._wiring link set portb4905765 up alias 'nfchain edge b:eth1=_wiring:portb4905765'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

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

# address:nfchain.edge.b:eth0=198.19.39.119
ip -n nfchain.edge.b address add 198.19.39.119 dev eth0

# neighbour:nfchain.edge.b:eth0=198.19.39.64
ip -n nfchain.edge.b neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.b:eth0=2001:2:0:fc9d:8000::17
ip -n nfchain.edge.b address add 2001:2:0:fc9d:8000::17 dev eth0 nodad

# neighbour:nfchain.edge.b:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.b neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.b:198.19.39.64/27
ip -n nfchain.edge.b route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.b:2001:2:0:fc9d::/65
ip -n nfchain.edge.b route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.b:eth1=198.19.39.87
ip -n nfchain.edge.b address add 198.19.39.87 dev eth1

# neighbour:nfchain.edge.b:eth1=198.19.39.96
ip -n nfchain.edge.b neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.b:eth1=2001:2:0:fc9d::17
ip -n nfchain.edge.b address add 2001:2:0:fc9d::17 dev eth1 nodad

# neighbour:nfchain.edge.b:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.b neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.b:198.19.39.96/27
ip -n nfchain.edge.b route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.b:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.b route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# tuning:nfchain.edge._wiring:sendfd7e4a88
ip netns exec nfchain.edge._wiring ethtool -K sendfd7e4a88 tx off
ip netns exec nfchain.edge._wiring ethtool -K sendfd7e4a88 sg off
ip netns exec nfchain.edge._wiring ethtool -K sendfd7e4a88 tso off
ip netns exec nfchain.edge._wiring ethtool -K sendfd7e4a88 gso off
ip netns exec nfchain.edge._wiring ethtool -K sendfd7e4a88 txvlan off
ip -n nfchain.edge._wiring link property add dev sendfd7e4a88 altname nfchain,sendfd7e4a88,cs=,gs=,sg=,ts=,vl=

# tuning:nfchain.edge._wiring:send9def02d0
ip netns exec nfchain.edge._wiring ethtool -K send9def02d0 tx off
ip netns exec nfchain.edge._wiring ethtool -K send9def02d0 sg off
ip netns exec nfchain.edge._wiring ethtool -K send9def02d0 tso off
ip netns exec nfchain.edge._wiring ethtool -K send9def02d0 gso off
ip netns exec nfchain.edge._wiring ethtool -K send9def02d0 txvlan off
ip -n nfchain.edge._wiring link property add dev send9def02d0 altname nfchain,send9def02d0,cs=,gs=,sg=,ts=,vl=

# names:relay: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"relay","hosts":[]}
END-OF-INPUT

# process:relay: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"relay","netns":"nfchain.edge.relay","args":["relay"],"env":[],"restart":"always","ready":{"timeout_s":10}}
END-OF-INPUT

# nsh-push:nfchain.edge.relay:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.relay <<'END-OF-INPUT'
{"device":"eth0","service_path":174,"service_index":254,"on":[{"number":74,"service_path":174,"service_index":254},{"number":76,"service_path":176,"service_index":254}],"from":"02:5d:f7:fa:6a:e9","to":"02:8c:d5:bf:01:bd"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:sendfd7e4a88: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendfd7e4a88","service_path":8388782,"service_index":255,"on":[{"number":74,"service_path":8388782,"service_index":255},{"number":76,"service_path":8388784,"service_index":255}]}
END-OF-INPUT

# nsh-push:nfchain.edge.relay:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.relay <<'END-OF-INPUT'
{"device":"eth1","service_path":8388782,"service_index":255,"on":[{"number":74,"service_path":8388782,"service_index":255},{"number":76,"service_path":8388784,"service_index":255}],"from":"02:c7:92:d3:3d:71","to":"02:d7:42:7b:86:05"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:send9def02d0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send9def02d0","service_path":174,"service_index":254,"on":[{"number":74,"service_path":174,"service_index":254},{"number":76,"service_path":176,"service_index":254}]}
END-OF-INPUT

# steer:nfchain.edge._wiring:port49075c1f: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port49075c1f","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port321a69db: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port321a69db","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"a relay b","number":74,"port":"sendfd7e4a88"},{"path":"a","number":2,"port":"port76e43ebe"}],"usual":"a relay b","other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:sendfd7e4a88: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendfd7e4a88","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"a relay b","number":74,"port":"port321a69db"},{"path":"b relay","number":76,"port":"port9bd1f3d1"}],"usual":"a relay b","opens":true,"headed":true,"other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:send9def02d0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send9def02d0","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"a relay b","number":74,"port":"portf2d61d88"},{"path":"b relay","number":76,"port":"port76e43ebe"}],"usual":"a relay b","opens":true,"headed":true,"other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portf2d61d88: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portf2d61d88","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"a relay b","number":74,"port":"send9def02d0"},{"path":"b relay","number":76,"port":"port9bd1f3d1"}],"usual":"a relay b","other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portb4905765: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portb4905765","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"a relay b","number":74,"port":"port76e43ebe"},{"path":"b relay","number":76,"port":"sendfd7e4a88"}],"usual":"a relay b","other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"a relay b","number":74,"port":"port49075c1f"},{"path":"b relay","number":76,"port":"portf2d61d88"},{"path":"a","number":2,"port":"port49075c1f"},{"path":"","number":128,"port":"port76e43ebe"}],"choice":{"rules":[{"name":"to a","path":"a relay b","destinations":["198.19.39.112/32","2001:2:0:fc9d:8000::10/128","198.19.39.80/32","2001:2:0:fc9d::10/128"]},{"name":"to b","path":"a relay b","destinations":["198.19.39.119/32","2001:2:0:fc9d:8000::17/128","198.19.39.87/32","2001:2:0:fc9d::17/128"]},{"name":"web","path":"a relay b","protocol":"tcp"},{"name":"far","path":"b relay","protocol":"udp"},{"name":"past","path":"a","protocol":"sctp"}]},"end":1,"flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"a relay b","number":74,"port":"send9def02d0"},{"path":"b relay","number":76,"port":"send9def02d0"},{"path":"a","number":2,"port":"port321a69db"},{"path":"","number":128,"port":"port9bd1f3d1"}],"choice":{"rules":[{"name":"to a","path":"a relay b","destinations":["198.19.39.112/32","2001:2:0:fc9d:8000::10/128","198.19.39.80/32","2001:2:0:fc9d::10/128"]},{"name":"to b","path":"a relay b","destinations":["198.19.39.119/32","2001:2:0:fc9d:8000::17/128","198.19.39.87/32","2001:2:0:fc9d::17/128"]},{"name":"web","path":"a relay b","protocol":"tcp"},{"name":"far","path":"b relay","protocol":"udp"},{"name":"past","path":"a","protocol":"sctp"}]},"end":2,"flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT
