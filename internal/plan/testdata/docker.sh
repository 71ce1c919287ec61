#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes container:nfchain.edge.a, names:web-1, container:nfchain.edge.web-1, steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port49075c1f, steer:nfchain.edge._wiring:port3e4e0916, steer:nfchain.edge._wiring:portbaa7f466, process:web-1, process:a, names:web-2, container:nfchain.edge.web-2, steer:nfchain.edge._wiring:port8a176253, steer:nfchain.edge._wiring:port86852d21, process:web-2, steer:nfchain.edge._wiring:port321a69db, steer:nfchain.edge._wiring:port76e43ebe, opens:nfchain.edge._wiring:port3e4e0916, opens:nfchain.edge._wiring:portbaa7f466, opens:nfchain.edge._wiring:port8a176253, opens:nfchain.edge._wiring:port86852d21; nothing was made' >&2; exit 3; }

# container:nfchain.edge.a: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"a","name":"nfchain.edge.a","image":"","capabilities":[],"memory_bytes":67108864}
END-OF-INPUT

# names:web-1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"web-1","hosts":["198.19.39.88 client","2001:2:0:fc9d::18 client","198.19.39.80 a","2001:2:0:fc9d::10 a","198.19.39.107 web","2001:2:0:fc9d:8000::b web","198.19.39.118 server","2001:2:0:fc9d:8000::16 server"]}
END-OF-INPUT

# container:nfchain.edge.web-1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"web-1","name":"nfchain.edge.web-1","image":"nginx:1.25","env":["A=b"],"mounts":[{"source":"/srv","target":"/www","read_only":true}],"capabilities":["CHOWN","DAC_OVERRIDE","FOWNER","KILL","NET_BIND_SERVICE","SETGID","SETUID"],"names":true}
END-OF-INPUT

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.a
ip -n nfchain.edge.a link set lo up
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.all.disable_ipv6=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.disable_ipv6=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.web-1
ip -n nfchain.edge.web-1 link set lo up
ip netns exec nfchain.edge.web-1 sysctl -qw net.ipv6.conf.all.disable_ipv6=0
ip netns exec nfchain.edge.web-1 sysctl -qw net.ipv6.conf.default.disable_ipv6=0
ip netns exec nfchain.edge.web-1 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.web-1 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.web-1 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.web-1 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.web-1 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.web-1 sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.web-1:eth0
ip -n nfchain.edge.web-1 link add eth0 address 02:e7:96:99:2b:55 mtu 1500 type veth peer name port3e4e0916 address e6:4f:ba:fe:5f:24 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.web-1 link set eth0 up alias 'nfchain edge web-1:eth0=_wiring:port3e4e0916'
ip -n nfchain.edge._wiring link set port3e4e0916 up alias 'nfchain edge web-1:eth0=_wiring:port3e4e0916'

# steer:nfchain.edge._wiring:port3e4e0916: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port3e4e0916","to":"port321a69db","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.web-1:eth1
ip -n nfchain.edge.web-1 link add eth1 address 02:44:e1:03:33:2f mtu 1500 type veth peer name portbaa7f466 address 82:98:9e:cf:9b:f9 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.web-1 link set eth1 up alias 'nfchain edge web-1:eth1=_wiring:portbaa7f466'
ip -n nfchain.edge._wiring link set portbaa7f466 up alias 'nfchain edge web-1:eth1=_wiring:portbaa7f466'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:portbaa7f466: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portbaa7f466","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
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

# address:nfchain.edge.web-1:eth0=198.19.39.107
ip -n nfchain.edge.web-1 address add 198.19.39.107 dev eth0

# neighbour:nfchain.edge.web-1:eth0=198.19.39.64
ip -n nfchain.edge.web-1 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.web-1:eth0=2001:2:0:fc9d:8000::b
ip -n nfchain.edge.web-1 address add 2001:2:0:fc9d:8000::b dev eth0 nodad

# neighbour:nfchain.edge.web-1:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.web-1 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.web-1:198.19.39.64/27
ip -n nfchain.edge.web-1 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.web-1:2001:2:0:fc9d::/65
ip -n nfchain.edge.web-1 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.web-1:eth1=198.19.39.75
ip -n nfchain.edge.web-1 address add 198.19.39.75 dev eth1

# neighbour:nfchain.edge.web-1:eth1=198.19.39.96
ip -n nfchain.edge.web-1 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.web-1:eth1=2001:2:0:fc9d::b
ip -n nfchain.edge.web-1 address add 2001:2:0:fc9d::b dev eth1 nodad

# neighbour:nfchain.edge.web-1:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.web-1 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.web-1:198.19.39.96/27
ip -n nfchain.edge.web-1 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.web-1:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.web-1 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# process:web-1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"web-1","netns":"nfchain.edge.web-1","args":["nginx:1.25"],"env":[],"restart":"always","ready":{"tcp_port":80,"timeout_s":10},"of":"web","container":{"engine":"docker","name":"nfchain.edge.web-1","digest":"nginx:1.25 b6cbc5a22b7e2034"}}
END-OF-INPUT

# process:a: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"a","netns":"nfchain.edge.a","args":["/.nfchain","idle"],"env":[],"restart":"always","ready":{"at_once":true,"timeout_s":10},"container":{"engine":"docker","name":"nfchain.edge.a","digest":"d025900fc3d31b8b"}}
END-OF-INPUT

# names:web-2: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"web-2","hosts":["198.19.39.88 client","2001:2:0:fc9d::18 client","198.19.39.80 a","2001:2:0:fc9d::10 a","198.19.39.107 web","2001:2:0:fc9d:8000::b web","198.19.39.118 server","2001:2:0:fc9d:8000::16 server"]}
END-OF-INPUT

# container:nfchain.edge.web-2: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"web-2","name":"nfchain.edge.web-2","image":"nginx:1.25","env":["A=b"],"mounts":[{"source":"/srv","target":"/www","read_only":true}],"capabilities":["CHOWN","DAC_OVERRIDE","FOWNER","KILL","NET_BIND_SERVICE","SETGID","SETUID"],"names":true}
END-OF-INPUT

# namespace:nfchain.edge.web-2
ip -n nfchain.edge.web-2 link set lo up
ip netns exec nfchain.edge.web-2 sysctl -qw net.ipv6.conf.all.disable_ipv6=0
ip netns exec nfchain.edge.web-2 sysctl -qw net.ipv6.conf.default.disable_ipv6=0
ip netns exec nfchain.edge.web-2 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.web-2 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.web-2 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.web-2 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.web-2 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.web-2 sysctl -qw net.ipv6.conf.all.forwarding=1

# link:nfchain.edge.web-2:eth0
ip -n nfchain.edge.web-2 link add eth0 address 02:33:4d:dd:f7:3e mtu 1500 type veth peer name port8a176253 address 16:81:85:dd:75:27 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.web-2 link set eth0 up alias 'nfchain edge web-2:eth0=_wiring:port8a176253'
ip -n nfchain.edge._wiring link set port8a176253 up alias 'nfchain edge web-2:eth0=_wiring:port8a176253'

# steer:nfchain.edge._wiring:port8a176253: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port8a176253","to":"port321a69db","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.web-2:eth1
ip -n nfchain.edge.web-2 link add eth1 address 02:b0:70:1f:9f:3e mtu 1500 type veth peer name port86852d21 address 82:62:c5:cf:6c:81 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.web-2 link set eth1 up alias 'nfchain edge web-2:eth1=_wiring:port86852d21'
ip -n nfchain.edge._wiring link set port86852d21 up alias 'nfchain edge web-2:eth1=_wiring:port86852d21'

# steer:nfchain.edge._wiring:port86852d21: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port86852d21","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.web-2:eth0=198.19.39.107
ip -n nfchain.edge.web-2 address add 198.19.39.107 dev eth0

# neighbour:nfchain.edge.web-2:eth0=198.19.39.64
ip -n nfchain.edge.web-2 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.web-2:eth0=2001:2:0:fc9d:8000::b
ip -n nfchain.edge.web-2 address add 2001:2:0:fc9d:8000::b dev eth0 nodad

# neighbour:nfchain.edge.web-2:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.web-2 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.web-2:198.19.39.64/27
ip -n nfchain.edge.web-2 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.web-2:2001:2:0:fc9d::/65
ip -n nfchain.edge.web-2 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.web-2:eth1=198.19.39.75
ip -n nfchain.edge.web-2 address add 198.19.39.75 dev eth1

# neighbour:nfchain.edge.web-2:eth1=198.19.39.96
ip -n nfchain.edge.web-2 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.web-2:eth1=2001:2:0:fc9d::b
ip -n nfchain.edge.web-2 address add 2001:2:0:fc9d::b dev eth1 nodad

# neighbour:nfchain.edge.web-2:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.web-2 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# route:nfchain.edge.web-2:198.19.39.96/27
ip -n nfchain.edge.web-2 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.web-2:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.web-2 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# process:web-2: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"web-2","netns":"nfchain.edge.web-2","args":["nginx:1.25"],"env":[],"restart":"always","ready":{"tcp_port":80,"timeout_s":10},"of":"web","container":{"engine":"docker","name":"nfchain.edge.web-2","digest":"nginx:1.25 1edd4448ddfff751"}}
END-OF-INPUT

# steer:nfchain.edge._wiring:port321a69db: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port321a69db","among":{"of":"web","replicas":[{"number":1,"port":"port3e4e0916","weight":1},{"number":2,"port":"port8a176253","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","among":{"of":"web","replicas":[{"number":1,"port":"portbaa7f466","weight":1},{"number":2,"port":"port86852d21","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# opens:nfchain.edge._wiring:port3e4e0916: no ip, tc or nft command makes this; nfchain does
nfchain apply edge opens nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port3e4e0916","of":"web","replica":1,"flows":65536}
END-OF-INPUT

# opens:nfchain.edge._wiring:portbaa7f466: no ip, tc or nft command makes this; nfchain does
nfchain apply edge opens nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portbaa7f466","of":"web","replica":1,"flows":65536}
END-OF-INPUT

# opens:nfchain.edge._wiring:port8a176253: no ip, tc or nft command makes this; nfchain does
nfchain apply edge opens nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port8a176253","of":"web","replica":2,"flows":65536}
END-OF-INPUT

# opens:nfchain.edge._wiring:port86852d21: no ip, tc or nft command makes this; nfchain does
nfchain apply edge opens nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port86852d21","of":"web","replica":2,"flows":65536}
END-OF-INPUT
