#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:sendf2d61d88, steer:nfchain.edge._wiring:sendb4905765, steer:nfchain.edge._wiring:port4ae00ea5, steer:nfchain.edge._wiring:portaca3f8fd, steer:nfchain.edge._wiring:port76e43ebe, names:b, process:b, nsh-push:nfchain.edge.b:eth0, nsh-pop:nfchain.edge._wiring:sendf2d61d88, nsh-push:nfchain.edge.b:eth1, nsh-pop:nfchain.edge._wiring:sendb4905765, pass:nfchain.edge._wiring:port9bd1f3d1, pass:nfchain.edge._wiring:sendf2d61d88; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.b
ip netns add nfchain.edge.b
ip -n nfchain.edge.b link set lo up
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.c
ip netns add nfchain.edge.c
ip -n nfchain.edge.c link set lo up
ip netns exec nfchain.edge.c sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.c sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.c sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.c sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.c sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.c sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.b:eth0
ip -n nfchain.edge.b link add eth0 address 02:2a:55:72:f0:dd mtu 1530 type veth peer name sendf2d61d88 address 66:db:18:2d:2d:b4 mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
ip -n nfchain.edge.b link set eth0 up alias 'nfchain edge b:eth0=_wiring:sendf2d61d88 quiet'
ip -n nfchain.edge._wiring link set sendf2d61d88 up alias 'nfchain edge b:eth0=_wiring:sendf2d61d88 quiet'

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","to":"sendf2d61d88","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:sendf2d61d88: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendf2d61d88","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.b:eth1
ip -n nfchain.edge.b link add eth1 address 02:79:f1:51:ea:17 mtu 1530 type veth peer name sendb4905765 address 46:85:1a:de:85:3b mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1
ip -n nfchain.edge.b link set eth1 up alias 'nfchain edge b:eth1=_wiring:sendb4905765 quiet'
ip -n nfchain.edge._wiring link set sendb4905765 up alias 'nfchain edge b:eth1=_wiring:sendb4905765 quiet'

# link:nfchain.edge.c:eth0
ip -n nfchain.edge.c link add eth0 address 02:79:f9:cc:43:16 mtu 1500 type veth peer name port4ae00ea5 address e2:91:18:98:71:cb mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.c link set eth0 up alias 'nfchain edge c:eth0=_wiring:port4ae00ea5'
ip -n nfchain.edge._wiring link set port4ae00ea5 up alias 'nfchain edge c:eth0=_wiring:port4ae00ea5'

# steer:nfchain.edge._wiring:sendb4905765: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendb4905765","to":"port4ae00ea5","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port4ae00ea5: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port4ae00ea5","to":"sendb4905765","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.c:eth1
ip -n nfchain.edge.c link add eth1 address 02:ef:e1:f0:5a:61 mtu 1500 type veth peer name portaca3f8fd address 22:56:2c:96:cd:c7 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.c link set eth1 up alias 'nfchain edge c:eth1=_wiring:portaca3f8fd'
ip -n nfchain.edge._wiring link set portaca3f8fd up alias 'nfchain edge c:eth1=_wiring:portaca3f8fd'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:portaca3f8fd: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portaca3f8fd","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","to":"portaca3f8fd","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.c:eth0=198.19.39.112
ip -n nfchain.edge.c address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.c:eth0=198.19.39.64
ip -n nfchain.edge.c neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.c:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.c address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.c:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.c neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.c:198.19.39.64/27
ip -n nfchain.edge.c route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.c:2001:2:0:fc9d::/65
ip -n nfchain.edge.c route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.c:eth1=198.19.39.80
ip -n nfchain.edge.c address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.c:eth1=198.19.39.96
ip -n nfchain.edge.c neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.c:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.c address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.c:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.c neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.c:198.19.39.96/27
ip -n nfchain.edge.c route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.c:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.c route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# tuning:nfchain.edge._wiring:sendf2d61d88
ip netns exec nfchain.edge._wiring ethtool -K sendf2d61d88 tx off
ip netns exec nfchain.edge._wiring ethtool -K sendf2d61d88 sg off
ip netns exec nfchain.edge._wiring ethtool -K sendf2d61d88 tso off
ip netns exec nfchain.edge._wiring ethtool -K sendf2d61d88 gso off
ip netns exec nfchain.edge._wiring ethtool -K sendf2d61d88 txvlan off
ip -n nfchain.edge._wiring link property add dev sendf2d61d88 altname nfchain,sendf2d61d88,cs=,gs=,sg=,ts=,vl=

# tuning:nfchain.edge._wiring:sendb4905765
ip netns exec nfchain.edge._wiring ethtool -K sendb4905765 tx off
ip netns exec nfchain.edge._wiring ethtool -K sendb4905765 sg off
ip netns exec nfchain.edge._wiring ethtool -K sendb4905765 tso off
ip netns exec nfchain.edge._wiring ethtool -K sendb4905765 gso off
ip netns exec nfchain.edge._wiring ethtool -K sendb4905765 txvlan off
ip -n nfchain.edge._wiring link property add dev sendb4905765 altname nfchain,sendb4905765,cs=,gs=,sg=,ts=,vl=

# names:b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"b","hosts":[]}
END-OF-INPUT

# process:b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"b","netns":"nfchain.edge.b","args":["relay"],"env":[],"restart":"always","ready":{"timeout_s":10}}
END-OF-INPUT

# nsh-push:nfchain.edge.b:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.b <<'END-OF-INPUT'
{"device":"eth0","service_path":3398465,"service_index":254,"from":"02:5d:f7:fa:6a:e9","to":"02:2a:55:72:f0:dd"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:sendf2d61d88: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendf2d61d88","service_path":11787073,"service_index":254}
END-OF-INPUT

# nsh-push:nfchain.edge.b:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.b <<'END-OF-INPUT'
{"device":"eth1","service_path":11787073,"service_index":254,"from":"02:c7:92:d3:3d:71","to":"02:79:f1:51:ea:17"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:sendb4905765: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendb4905765","service_path":3398465,"service_index":254}
END-OF-INPUT

# pass:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","steps":[{"act":"count","slot":2,"args":[0,0,0]}],"of":["a"]}
END-OF-INPUT

# pass:nfchain.edge._wiring:sendf2d61d88: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendf2d61d88","steps":[{"act":"count","slot":2,"args":[0,0,0]}],"of":["a"]}
END-OF-INPUT
