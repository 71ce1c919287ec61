#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port257d5762, steer:nfchain.edge._wiring:port96d145f8, steer:nfchain.edge._wiring:port37080b97, steer:nfchain.edge._wiring:port51bf347d, steer:nfchain.edge._wiring:port1acc9978, steer:nfchain.edge._wiring:port0838b319, steer:nfchain.edge._wiring:port65583914, steer:nfchain.edge._wiring:portdeecae45, steer:nfchain.edge._wiring:portb856506d, steer:nfchain.edge._wiring:port6ee20c52, steer:nfchain.edge._wiring:port76e43ebe, label:nfchain.edge.tell:eth1, pass:nfchain.edge._wiring:port0838b319, pass:nfchain.edge._wiring:port65583914; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.tell
ip netns add nfchain.edge.tell
ip -n nfchain.edge.tell link set lo up
ip netns exec nfchain.edge.tell sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.tell sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.tell sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.tell sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.tell sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.tell sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.shape
ip netns add nfchain.edge.shape
ip -n nfchain.edge.shape link set lo up
ip netns exec nfchain.edge.shape sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.shape sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.shape sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.shape sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.shape sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.shape sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.log
ip netns add nfchain.edge.log
ip -n nfchain.edge.log link set lo up
ip netns exec nfchain.edge.log sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.log sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.log sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.log sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.hop
ip netns add nfchain.edge.hop
ip -n nfchain.edge.hop link set lo up
ip netns exec nfchain.edge.hop sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.hop sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.hop sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.hop sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.hop sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.hop sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.out
ip netns add nfchain.edge.out
ip -n nfchain.edge.out link set lo up
ip netns exec nfchain.edge.out sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.out sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.out sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.out sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.out sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.out sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.tell:eth0
ip -n nfchain.edge.tell link add eth0 address 02:66:42:24:ec:b2 mtu 1500 type veth peer name port257d5762 address de:05:bd:c1:61:a0 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.tell link set eth0 up alias 'nfchain edge tell:eth0=_wiring:port257d5762'
ip -n nfchain.edge._wiring link set port257d5762 up alias 'nfchain edge tell:eth0=_wiring:port257d5762'

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","to":"port257d5762","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port257d5762: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port257d5762","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.tell:eth1
ip -n nfchain.edge.tell link add eth1 address 02:62:63:25:1a:71 mtu 1500 type veth peer name port96d145f8 address fe:32:ae:c5:1f:f9 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.tell link set eth1 up alias 'nfchain edge tell:eth1=_wiring:port96d145f8'
ip -n nfchain.edge._wiring link set port96d145f8 up alias 'nfchain edge tell:eth1=_wiring:port96d145f8'

# link:nfchain.edge.shape:eth0
ip -n nfchain.edge.shape link add eth0 address 02:f4:28:c9:34:05 mtu 1500 type veth peer name port37080b97 address f2:3c:f1:4a:00:9f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.shape link set eth0 up alias 'nfchain edge shape:eth0=_wiring:port37080b97'
ip -n nfchain.edge._wiring link set port37080b97 up alias 'nfchain edge shape:eth0=_wiring:port37080b97'

# steer:nfchain.edge._wiring:port96d145f8: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port96d145f8","to":"portb856506d","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"tell","number":39179,"ways":[{"node":"out","number":17044,"port":"portb856506d","joint":true},{"node":"shape","number":15245,"port":"port37080b97"},{"node":"log","number":63504,"port":"port1acc9978"},{"node":"server","number":18567,"port":"port76e43ebe","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port37080b97: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port37080b97","to":"port96d145f8","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.shape:eth1
ip -n nfchain.edge.shape link add eth1 address 02:08:1a:34:9b:4e mtu 1500 type veth peer name port51bf347d address fa:f3:fa:17:18:62 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.shape link set eth1 up alias 'nfchain edge shape:eth1=_wiring:port51bf347d'
ip -n nfchain.edge._wiring link set port51bf347d up alias 'nfchain edge shape:eth1=_wiring:port51bf347d'

# link:nfchain.edge.log:eth0
ip -n nfchain.edge.log link add eth0 address 02:c9:d5:0e:4d:7a mtu 1500 type veth peer name port1acc9978 address be:f3:55:95:44:c2 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.log link set eth0 up alias 'nfchain edge log:eth0=_wiring:port1acc9978'
ip -n nfchain.edge._wiring link set port1acc9978 up alias 'nfchain edge log:eth0=_wiring:port1acc9978'

# steer:nfchain.edge._wiring:port51bf347d: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port51bf347d","to":"portb856506d","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"shape","number":15245,"ways":[{"node":"out","number":17044,"port":"portb856506d","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port1acc9978: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port1acc9978","to":"port96d145f8","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.log:eth1
ip -n nfchain.edge.log link add eth1 address 02:62:4c:e4:7a:55 mtu 1500 type veth peer name port0838b319 address 5a:7a:af:38:5b:9f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.log link set eth1 up alias 'nfchain edge log:eth1=_wiring:port0838b319'
ip -n nfchain.edge._wiring link set port0838b319 up alias 'nfchain edge log:eth1=_wiring:port0838b319'

# link:nfchain.edge.hop:eth0
ip -n nfchain.edge.hop link add eth0 address 02:fb:40:10:65:00 mtu 1500 type veth peer name port65583914 address 86:2c:9c:bd:d0:29 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.hop link set eth0 up alias 'nfchain edge hop:eth0=_wiring:port65583914'
ip -n nfchain.edge._wiring link set port65583914 up alias 'nfchain edge hop:eth0=_wiring:port65583914'

# steer:nfchain.edge._wiring:port0838b319: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port0838b319","to":"port65583914","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port65583914: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port65583914","to":"port0838b319","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.hop:eth1
ip -n nfchain.edge.hop link add eth1 address 02:20:88:63:1c:5e mtu 1500 type veth peer name portdeecae45 address 0a:c6:29:cb:c7:de mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.hop link set eth1 up alias 'nfchain edge hop:eth1=_wiring:portdeecae45'
ip -n nfchain.edge._wiring link set portdeecae45 up alias 'nfchain edge hop:eth1=_wiring:portdeecae45'

# link:nfchain.edge.out:eth0
ip -n nfchain.edge.out link add eth0 address 02:92:3f:79:1a:a8 mtu 1500 type veth peer name portb856506d address ce:94:4e:18:11:79 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.out link set eth0 up alias 'nfchain edge out:eth0=_wiring:portb856506d'
ip -n nfchain.edge._wiring link set portb856506d up alias 'nfchain edge out:eth0=_wiring:portb856506d'

# steer:nfchain.edge._wiring:portdeecae45: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portdeecae45","to":"portb856506d","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"hop","number":328,"ways":[{"node":"out","number":17044,"port":"portb856506d","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portb856506d: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portb856506d","to":"port96d145f8","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"out","number":17044,"back":true,"ways":[{"node":"tell","number":39179,"port":"port96d145f8"},{"node":"shape","number":15245,"port":"port51bf347d"},{"node":"hop","number":328,"port":"portdeecae45"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.out:eth1
ip -n nfchain.edge.out link add eth1 address 02:09:dc:fb:96:0f mtu 1500 type veth peer name port6ee20c52 address 9e:76:cb:96:71:93 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.out link set eth1 up alias 'nfchain edge out:eth1=_wiring:port6ee20c52'
ip -n nfchain.edge._wiring link set port6ee20c52 up alias 'nfchain edge out:eth1=_wiring:port6ee20c52'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:port6ee20c52: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port6ee20c52","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"out","number":17044,"ways":[{"node":"server","number":18567,"port":"port76e43ebe","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","to":"port6ee20c52","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"server","number":18567,"back":true,"ways":[{"node":"out","number":17044,"port":"port6ee20c52"},{"node":"tell","number":39179,"port":"port96d145f8"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.tell:eth0=198.19.39.110
ip -n nfchain.edge.tell address add 198.19.39.110 dev eth0

# neighbour:nfchain.edge.tell:eth0=198.19.39.64
ip -n nfchain.edge.tell neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.tell:eth0=2001:2:0:fc9d:8000::e
ip -n nfchain.edge.tell address add 2001:2:0:fc9d:8000::e dev eth0 nodad

# neighbour:nfchain.edge.tell:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.tell neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.tell:198.19.39.64/27
ip -n nfchain.edge.tell route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.tell:2001:2:0:fc9d::/65
ip -n nfchain.edge.tell route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.tell:eth1=198.19.39.78
ip -n nfchain.edge.tell address add 198.19.39.78 dev eth1

# neighbour:nfchain.edge.tell:eth1=198.19.39.96
ip -n nfchain.edge.tell neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.shape:eth0=198.19.39.107
ip -n nfchain.edge.shape address add 198.19.39.107 dev eth0

# neighbour:nfchain.edge.shape:eth0=198.19.39.64
ip -n nfchain.edge.shape neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.tell:eth1=2001:2:0:fc9d::e
ip -n nfchain.edge.tell address add 2001:2:0:fc9d::e dev eth1 nodad

# neighbour:nfchain.edge.tell:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.tell neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.shape:eth0=2001:2:0:fc9d:8000::b
ip -n nfchain.edge.shape address add 2001:2:0:fc9d:8000::b dev eth0 nodad

# neighbour:nfchain.edge.shape:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.shape neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.tell:198.19.39.96/27
ip -n nfchain.edge.tell route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.shape:198.19.39.64/27
ip -n nfchain.edge.shape route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.tell:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.tell route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.shape:2001:2:0:fc9d::/65
ip -n nfchain.edge.shape route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.shape:eth1=198.19.39.75
ip -n nfchain.edge.shape address add 198.19.39.75 dev eth1

# neighbour:nfchain.edge.shape:eth1=198.19.39.96
ip -n nfchain.edge.shape neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.hop:eth0=198.19.39.101
ip -n nfchain.edge.hop address add 198.19.39.101 dev eth0

# neighbour:nfchain.edge.hop:eth0=198.19.39.64
ip -n nfchain.edge.hop neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.shape:eth1=2001:2:0:fc9d::b
ip -n nfchain.edge.shape address add 2001:2:0:fc9d::b dev eth1 nodad

# neighbour:nfchain.edge.shape:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.shape neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.hop:eth0=2001:2:0:fc9d:8000::5
ip -n nfchain.edge.hop address add 2001:2:0:fc9d:8000::5 dev eth0 nodad

# neighbour:nfchain.edge.hop:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.hop neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.shape:198.19.39.96/27
ip -n nfchain.edge.shape route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.hop:198.19.39.64/27
ip -n nfchain.edge.hop route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.shape:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.shape route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.hop:2001:2:0:fc9d::/65
ip -n nfchain.edge.hop route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.hop:eth1=198.19.39.69
ip -n nfchain.edge.hop address add 198.19.39.69 dev eth1

# neighbour:nfchain.edge.hop:eth1=198.19.39.96
ip -n nfchain.edge.hop neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out:eth0=198.19.39.113
ip -n nfchain.edge.out address add 198.19.39.113 dev eth0

# neighbour:nfchain.edge.out:eth0=198.19.39.64
ip -n nfchain.edge.out neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.hop:eth1=2001:2:0:fc9d::5
ip -n nfchain.edge.hop address add 2001:2:0:fc9d::5 dev eth1 nodad

# neighbour:nfchain.edge.hop:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.hop neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out:eth0=2001:2:0:fc9d:8000::11
ip -n nfchain.edge.out address add 2001:2:0:fc9d:8000::11 dev eth0 nodad

# neighbour:nfchain.edge.out:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.out neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.hop:198.19.39.96/27
ip -n nfchain.edge.hop route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.out:198.19.39.64/27
ip -n nfchain.edge.out route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.hop:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.hop route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.out:2001:2:0:fc9d::/65
ip -n nfchain.edge.out route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.out:eth1=198.19.39.81
ip -n nfchain.edge.out address add 198.19.39.81 dev eth1

# neighbour:nfchain.edge.out:eth1=198.19.39.96
ip -n nfchain.edge.out neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.out:eth1=2001:2:0:fc9d::11
ip -n nfchain.edge.out address add 2001:2:0:fc9d::11 dev eth1 nodad

# neighbour:nfchain.edge.out:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.out neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.out:198.19.39.96/27
ip -n nfchain.edge.out route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.out:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.out route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# label:nfchain.edge.tell:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge label nfchain.edge.tell <<'END-OF-INPUT'
{"device":"eth1","rules":[{"mark":"0x1","mask":"0xffffffff","node":"shape","label":15245},{"mark":"0x2","mask":"0xff","node":"log","label":63504},{"mark":"0x3","mask":"0xffffffff","node":"server","label":18567}]}
END-OF-INPUT

# qdisc:nfchain.edge.shape:eth0
tc -n nfchain.edge.shape qdisc replace dev eth0 root handle 1: htb default 1
tc -n nfchain.edge.shape class replace dev eth0 parent 1:0 classid 1:1 htb prio 0 rate 1000000000bit ceil 1000000000bit burst 131250 cburst 131250 quantum 200000

# qdisc:nfchain.edge.shape:eth1
tc -n nfchain.edge.shape qdisc replace dev eth1 root handle 1: htb default 1
tc -n nfchain.edge.shape class replace dev eth1 parent 1:0 classid 1:1 htb prio 0 rate 1000000000bit ceil 1000000000bit burst 131250 cburst 131250 quantum 200000

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

# pass:nfchain.edge._wiring:port0838b319: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port0838b319","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"]}
END-OF-INPUT

# pass:nfchain.edge._wiring:port65583914: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port65583914","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"]}
END-OF-INPUT
