#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes names:nf, container:nfchain.edge.nf, steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:porta9a31771, steer:nfchain.edge._wiring:port9e584217, steer:nfchain.edge._wiring:port76e43ebe, process:nf; nothing was made' >&2; exit 3; }

# names:nf: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"nf","hosts":["198.19.39.88 client","2001:2:0:fc9d::18 client","198.19.39.126 nf","2001:2:0:fc9d:8000::1e nf","198.19.39.118 server","2001:2:0:fc9d:8000::16 server"]}
END-OF-INPUT

# container:nfchain.edge.nf: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"lxc","node":"nf","name":"nfchain.edge.nf","image":"./nf.tar","from":"./nf.tar","args":["/nf"],"capabilities":["CHOWN","DAC_OVERRIDE","FOWNER","KILL","NET_BIND_SERVICE","SETGID","SETUID"],"memory_bytes":67108864,"hugepage_bytes":6291456,"page_bytes":2097152,"names":true}
END-OF-INPUT

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.nf
ip -n nfchain.edge.nf link set lo up
ip netns exec nfchain.edge.nf sysctl -qw net.ipv6.conf.all.disable_ipv6=0
ip netns exec nfchain.edge.nf sysctl -qw net.ipv6.conf.default.disable_ipv6=0
ip netns exec nfchain.edge.nf sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.nf sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.nf sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.nf sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.nf sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.nf sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.nf:eth0
ip -n nfchain.edge.nf link add eth0 address 02:4a:17:b0:b9:a7 mtu 1500 type veth peer name porta9a31771 address b6:28:4a:43:ac:37 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.nf link set eth0 up alias 'nfchain edge nf:eth0=_wiring:porta9a31771'
ip -n nfchain.edge._wiring link set porta9a31771 up alias 'nfchain edge nf:eth0=_wiring:porta9a31771'

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","to":"porta9a31771","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:porta9a31771: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"porta9a31771","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.nf:eth1
ip -n nfchain.edge.nf link add eth1 address 02:0c:92:9a:c4:76 mtu 1500 type veth peer name port9e584217 address a2:63:c2:5a:a0:4a mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.nf link set eth1 up alias 'nfchain edge nf:eth1=_wiring:port9e584217'
ip -n nfchain.edge._wiring link set port9e584217 up alias 'nfchain edge nf:eth1=_wiring:port9e584217'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:port9e584217: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9e584217","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","to":"port9e584217","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.nf:eth0=198.19.39.126
ip -n nfchain.edge.nf address add 198.19.39.126 dev eth0

# neighbour:nfchain.edge.nf:eth0=198.19.39.64
ip -n nfchain.edge.nf neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.nf:eth0=2001:2:0:fc9d:8000::1e
ip -n nfchain.edge.nf address add 2001:2:0:fc9d:8000::1e dev eth0 nodad

# neighbour:nfchain.edge.nf:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.nf neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.nf:198.19.39.64/27
ip -n nfchain.edge.nf route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.nf:2001:2:0:fc9d::/65
ip -n nfchain.edge.nf route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.nf:eth1=198.19.39.94
ip -n nfchain.edge.nf address add 198.19.39.94 dev eth1

# neighbour:nfchain.edge.nf:eth1=198.19.39.96
ip -n nfchain.edge.nf neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.nf:eth1=2001:2:0:fc9d::1e
ip -n nfchain.edge.nf address add 2001:2:0:fc9d::1e dev eth1 nodad

# neighbour:nfchain.edge.nf:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.nf neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.nf:198.19.39.96/27
ip -n nfchain.edge.nf route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.nf:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.nf route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# process:nf: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"nf","netns":"nfchain.edge.nf","args":["/nf"],"env":[],"restart":"always","ready":{"timeout_s":10},"container":{"engine":"lxc","name":"nfchain.edge.nf","digest":"./nf.tar 5816a72fb29b0051"}}
END-OF-INPUT
