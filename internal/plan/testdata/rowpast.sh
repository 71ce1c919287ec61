#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port3b00f18a, steer:nfchain.edge._wiring:port539198b7, steer:nfchain.edge._wiring:port76e43ebe, pass:nfchain.edge._wiring:port9bd1f3d1, pass:nfchain.edge._wiring:port3b00f18a, pass:nfchain.edge._wiring:port539198b7, pass:nfchain.edge._wiring:port76e43ebe, pass:nfchain.edge._wiring:past9154faa8, steer:nfchain.edge._wiring:past9154faa8, pass:nfchain.edge._wiring:past9975f3eb, steer:nfchain.edge._wiring:past9975f3eb, health:nfchain.edge._wiring:path; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.ids
ip netns add nfchain.edge.ids
ip -n nfchain.edge.ids link set lo up
ip netns exec nfchain.edge.ids sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.ids sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.ids sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.ids sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.ids sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.ids sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.ids:eth0
ip -n nfchain.edge.ids link add eth0 address 02:36:8c:7b:95:b4 mtu 1500 type veth peer name port3b00f18a address e6:78:49:d0:d5:a1 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.ids link set eth0 up alias 'nfchain edge ids:eth0=_wiring:port3b00f18a'
ip -n nfchain.edge._wiring link set port3b00f18a up alias 'nfchain edge ids:eth0=_wiring:port3b00f18a'

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","to":"port3b00f18a","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port3b00f18a: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port3b00f18a","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.ids:eth1
ip -n nfchain.edge.ids link add eth1 address 02:70:a1:02:26:55 mtu 1500 type veth peer name port539198b7 address 2e:c3:9c:fc:f1:bd mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.ids link set eth1 up alias 'nfchain edge ids:eth1=_wiring:port539198b7'
ip -n nfchain.edge._wiring link set port539198b7 up alias 'nfchain edge ids:eth1=_wiring:port539198b7'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:port539198b7: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port539198b7","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","to":"port539198b7","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.ids:eth0=198.19.39.101
ip -n nfchain.edge.ids address add 198.19.39.101 dev eth0

# neighbour:nfchain.edge.ids:eth0=198.19.39.64
ip -n nfchain.edge.ids neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.ids:eth0=2001:2:0:fc9d:8000::5
ip -n nfchain.edge.ids address add 2001:2:0:fc9d:8000::5 dev eth0 nodad

# neighbour:nfchain.edge.ids:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.ids neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.ids:198.19.39.64/27
ip -n nfchain.edge.ids route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.ids:2001:2:0:fc9d::/65
ip -n nfchain.edge.ids route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.ids:eth1=198.19.39.69
ip -n nfchain.edge.ids address add 198.19.39.69 dev eth1

# neighbour:nfchain.edge.ids:eth1=198.19.39.96
ip -n nfchain.edge.ids neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.ids:eth1=2001:2:0:fc9d::5
ip -n nfchain.edge.ids address add 2001:2:0:fc9d::5 dev eth1 nodad

# neighbour:nfchain.edge.ids:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.ids neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.ids:198.19.39.96/27
ip -n nfchain.edge.ids route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.ids:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.ids route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# pass:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"]}
END-OF-INPUT

# pass:nfchain.edge._wiring:port3b00f18a: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port3b00f18a","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"],"beside":["past9154faa8"]}
END-OF-INPUT

# pass:nfchain.edge._wiring:port539198b7: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port539198b7","steps":[{"act":"count","slot":21,"args":[0,0,0]}],"of":["behind"],"beside":["past9975f3eb"]}
END-OF-INPUT

# pass:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","steps":[{"act":"count","slot":21,"args":[0,0,0]}],"of":["behind"]}
END-OF-INPUT

# link:nfchain.edge._wiring:past9154faa8
ip -n nfchain.edge._wiring link add past9154faa8 address 02:18:03:93:3e:14 mtu 1500 type veth peer name past9975f3eb address 02:fa:97:72:fe:9b mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge._wiring link set past9154faa8 up alias 'nfchain edge _wiring:past9154faa8=_wiring:past9975f3eb'
ip -n nfchain.edge._wiring link set past9975f3eb up alias 'nfchain edge _wiring:past9154faa8=_wiring:past9975f3eb'

# pass:nfchain.edge._wiring:past9154faa8: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"past9154faa8","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"],"beside":["port3b00f18a"]}
END-OF-INPUT

# steer:nfchain.edge._wiring:past9154faa8: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"past9154faa8","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# pass:nfchain.edge._wiring:past9975f3eb: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"past9975f3eb","steps":[{"act":"count","slot":21,"args":[0,0,0]}],"of":["behind"],"beside":["port539198b7"]}
END-OF-INPUT

# steer:nfchain.edge._wiring:past9975f3eb: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"past9975f3eb","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# health:nfchain.edge._wiring:path: no ip, tc or nft command makes this; nfchain does
nfchain apply edge health nfchain.edge._wiring <<'END-OF-INPUT'
{"forwarder":"nfchain.edge._wiring","nodes":[{"node":"client","east":"port9bd1f3d1"},{"node":"ids","west":"port3b00f18a","east":"port539198b7","past_west":"past9154faa8","past_east":"past9975f3eb","on_failure":"bypass","version":"8526fc9a9b82ab5d","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:36:8c:7b:95:b4","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:70:a1:02:26:55","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:36:8c:7b:95:b4","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:70:a1:02:26:55","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"server","west":"port76e43ebe"}]}
END-OF-INPUT
