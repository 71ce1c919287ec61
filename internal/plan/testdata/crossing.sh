#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes label:nfchain.edge.tell:eth1, names:web, process:web, steer:nfchain.edge._wiring:port257d5762, steer:nfchain.edge._wiring:port96d145f8, steer:nfchain.edge._wiring:portb8ba074c, steer:nfchain.edge._wiring:port0f5dad3c, steer:nfchain.edge._wiring:portc3144268, steer:nfchain.edge._wiring:port64bb104e, steer:nfchain.edge._wiring:port9d435e85, steer:nfchain.edge._wiring:port84b7af4d, steer:nfchain.edge._wiring:portb856506d, steer:nfchain.edge._wiring:port6ee20c52, steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port76e43ebe, health:nfchain.edge._wiring:path; nothing was made' >&2; exit 3; }

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

# namespace:nfchain.edge.check
ip netns add nfchain.edge.check
ip -n nfchain.edge.check link set lo up
ip netns exec nfchain.edge.check sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.check sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.check sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.check sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.check sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.check sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.web
ip netns add nfchain.edge.web
ip -n nfchain.edge.web link set lo up
ip netns exec nfchain.edge.web sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.web sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.web sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.web sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.web sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.web sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.meter
ip netns add nfchain.edge.meter
ip -n nfchain.edge.meter link set lo up
ip netns exec nfchain.edge.meter sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.meter sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.meter sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.meter sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.meter sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.meter sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.tell:eth1
ip -n nfchain.edge.tell link add eth1 address 02:62:63:25:1a:71 mtu 1500 type veth peer name port96d145f8 address fe:32:ae:c5:1f:f9 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.tell link set eth1 up alias 'nfchain edge tell:eth1=_wiring:port96d145f8'
ip -n nfchain.edge._wiring link set port96d145f8 up alias 'nfchain edge tell:eth1=_wiring:port96d145f8'

# link:nfchain.edge.check:eth0
ip -n nfchain.edge.check link add eth0 address 02:1f:ba:cf:c3:77 mtu 1500 type veth peer name portb8ba074c address c2:52:99:10:ee:fc mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.check link set eth0 up alias 'nfchain edge check:eth0=_wiring:portb8ba074c'
ip -n nfchain.edge._wiring link set portb8ba074c up alias 'nfchain edge check:eth0=_wiring:portb8ba074c'

# link:nfchain.edge.check:eth1
ip -n nfchain.edge.check link add eth1 address 02:70:c8:e5:75:22 mtu 1500 type veth peer name port0f5dad3c address d6:09:ad:02:60:45 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.check link set eth1 up alias 'nfchain edge check:eth1=_wiring:port0f5dad3c'
ip -n nfchain.edge._wiring link set port0f5dad3c up alias 'nfchain edge check:eth1=_wiring:port0f5dad3c'

# link:nfchain.edge.web:eth0
ip -n nfchain.edge.web link add eth0 address 02:e6:0a:00:c5:ee mtu 1500 type veth peer name portc3144268 address f2:a4:a2:b4:ef:4d mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.web link set eth0 up alias 'nfchain edge web:eth0=_wiring:portc3144268'
ip -n nfchain.edge._wiring link set portc3144268 up alias 'nfchain edge web:eth0=_wiring:portc3144268'

# link:nfchain.edge.web:eth1
ip -n nfchain.edge.web link add eth1 address 02:26:38:b6:40:e8 mtu 1500 type veth peer name port64bb104e address 92:b8:b8:73:a7:90 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.web link set eth1 up alias 'nfchain edge web:eth1=_wiring:port64bb104e'
ip -n nfchain.edge._wiring link set port64bb104e up alias 'nfchain edge web:eth1=_wiring:port64bb104e'

# link:nfchain.edge.meter:eth0
ip -n nfchain.edge.meter link add eth0 address 02:32:0e:a8:4f:81 mtu 1500 type veth peer name port9d435e85 address 72:01:05:c7:ea:29 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.meter link set eth0 up alias 'nfchain edge meter:eth0=_wiring:port9d435e85'
ip -n nfchain.edge._wiring link set port9d435e85 up alias 'nfchain edge meter:eth0=_wiring:port9d435e85'

# link:nfchain.edge.meter:eth1
ip -n nfchain.edge.meter link add eth1 address 02:da:49:51:0f:38 mtu 1500 type veth peer name port84b7af4d address b2:bd:1f:d5:79:f7 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.meter link set eth1 up alias 'nfchain edge meter:eth1=_wiring:port84b7af4d'
ip -n nfchain.edge._wiring link set port84b7af4d up alias 'nfchain edge meter:eth1=_wiring:port84b7af4d'

# link:nfchain.edge.out:eth0
ip -n nfchain.edge.out link add eth0 address 02:92:3f:79:1a:a8 mtu 1500 type veth peer name portb856506d address ce:94:4e:18:11:79 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.out link set eth0 up alias 'nfchain edge out:eth0=_wiring:portb856506d'
ip -n nfchain.edge._wiring link set portb856506d up alias 'nfchain edge out:eth0=_wiring:portb856506d'

# link:nfchain.edge.out:eth1
ip -n nfchain.edge.out link add eth1 address 02:09:dc:fb:96:0f mtu 1500 type veth peer name port6ee20c52 address 9e:76:cb:96:71:93 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.out link set eth1 up alias 'nfchain edge out:eth1=_wiring:port6ee20c52'
ip -n nfchain.edge._wiring link set port6ee20c52 up alias 'nfchain edge out:eth1=_wiring:port6ee20c52'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

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

# address:nfchain.edge.check:eth0=198.19.39.112
ip -n nfchain.edge.check address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.check:eth0=198.19.39.64
ip -n nfchain.edge.check neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.tell:eth1=2001:2:0:fc9d::e
ip -n nfchain.edge.tell address add 2001:2:0:fc9d::e dev eth1 nodad

# neighbour:nfchain.edge.tell:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.tell neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.check:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.check address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.check:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.check neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.tell:198.19.39.96/27
ip -n nfchain.edge.tell route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.check:198.19.39.64/27
ip -n nfchain.edge.check route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.tell:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.tell route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.check:2001:2:0:fc9d::/65
ip -n nfchain.edge.check route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.check:eth1=198.19.39.80
ip -n nfchain.edge.check address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.check:eth1=198.19.39.96
ip -n nfchain.edge.check neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.web:eth0=198.19.39.107
ip -n nfchain.edge.web address add 198.19.39.107 dev eth0

# neighbour:nfchain.edge.web:eth0=198.19.39.64
ip -n nfchain.edge.web neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.check:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.check address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.check:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.check neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.web:eth0=2001:2:0:fc9d:8000::b
ip -n nfchain.edge.web address add 2001:2:0:fc9d:8000::b dev eth0 nodad

# neighbour:nfchain.edge.web:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.web neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.check:198.19.39.96/27
ip -n nfchain.edge.check route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.web:198.19.39.64/27
ip -n nfchain.edge.web route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.check:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.check route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.web:2001:2:0:fc9d::/65
ip -n nfchain.edge.web route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.web:eth1=198.19.39.75
ip -n nfchain.edge.web address add 198.19.39.75 dev eth1

# neighbour:nfchain.edge.web:eth1=198.19.39.96
ip -n nfchain.edge.web neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.meter:eth0=198.19.39.121
ip -n nfchain.edge.meter address add 198.19.39.121 dev eth0

# neighbour:nfchain.edge.meter:eth0=198.19.39.64
ip -n nfchain.edge.meter neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.web:eth1=2001:2:0:fc9d::b
ip -n nfchain.edge.web address add 2001:2:0:fc9d::b dev eth1 nodad

# neighbour:nfchain.edge.web:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.web neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.meter:eth0=2001:2:0:fc9d:8000::19
ip -n nfchain.edge.meter address add 2001:2:0:fc9d:8000::19 dev eth0 nodad

# neighbour:nfchain.edge.meter:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.meter neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.web:198.19.39.96/27
ip -n nfchain.edge.web route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.meter:198.19.39.64/27
ip -n nfchain.edge.meter route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.web:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.web route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.meter:2001:2:0:fc9d::/65
ip -n nfchain.edge.meter route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.meter:eth1=198.19.39.89
ip -n nfchain.edge.meter address add 198.19.39.89 dev eth1

# neighbour:nfchain.edge.meter:eth1=198.19.39.96
ip -n nfchain.edge.meter neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out:eth0=198.19.39.113
ip -n nfchain.edge.out address add 198.19.39.113 dev eth0

# neighbour:nfchain.edge.out:eth0=198.19.39.64
ip -n nfchain.edge.out neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.meter:eth1=2001:2:0:fc9d::19
ip -n nfchain.edge.meter address add 2001:2:0:fc9d::19 dev eth1 nodad

# neighbour:nfchain.edge.meter:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.meter neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.out:eth0=2001:2:0:fc9d:8000::11
ip -n nfchain.edge.out address add 2001:2:0:fc9d:8000::11 dev eth0 nodad

# neighbour:nfchain.edge.out:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.out neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.meter:198.19.39.96/27
ip -n nfchain.edge.meter route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.out:198.19.39.64/27
ip -n nfchain.edge.out route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.meter:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.meter route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

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
{"device":"eth1","rules":[{"mark":"0x1","mask":"0xffffffff","node":"check","label":30213}]}
END-OF-INPUT

# ruleset:nfchain.edge.check:nftables/nfchain-firewall/forward
ip netns exec nfchain.edge.check nft -f - <<'END-OF-INPUT'
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

# names:web: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"web","hosts":["198.19.39.88 client","2001:2:0:fc9d::18 client","198.19.39.78 tell","2001:2:0:fc9d::e tell","198.19.39.80 check","2001:2:0:fc9d::10 check","198.19.39.107 web","2001:2:0:fc9d:8000::b web","198.19.39.121 meter","2001:2:0:fc9d:8000::19 meter","198.19.39.113 out","2001:2:0:fc9d:8000::11 out","198.19.39.118 server","2001:2:0:fc9d:8000::16 server"]}
END-OF-INPUT

# process:web: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"web","netns":"nfchain.edge.web","args":["relay"],"env":[],"restart":"always","ready":{"timeout_s":10}}
END-OF-INPUT

# steer:nfchain.edge._wiring:port257d5762: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port257d5762","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port96d145f8: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port96d145f8","to":"portb856506d","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"tell","number":39179,"ways":[{"node":"out","number":17044,"port":"portb856506d","joint":true},{"node":"check","number":30213,"port":"portb8ba074c"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portb8ba074c: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portb8ba074c","to":"port96d145f8","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port0f5dad3c: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port0f5dad3c","to":"portc3144268","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portc3144268: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portc3144268","to":"port0f5dad3c","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"all, as branches lead","number":253,"behind":true}],"usual":"all, as branches lead","opens":true,"other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port64bb104e: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port64bb104e","to":"port9d435e85","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"all, as branches lead","number":253,"behind":true}],"usual":"all, as branches lead","opens":true,"other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port9d435e85: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9d435e85","to":"port64bb104e","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"all, as branches lead","number":253,"behind":true},{"path":"out meter","number":40,"port":"port6ee20c52"},{"path":"meter, one way","number":199,"port":"port9bd1f3d1"}],"usual":"all, as branches lead","other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port84b7af4d: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port84b7af4d","to":"portb856506d","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"all, as branches lead","number":253,"behind":true},{"path":"out meter","number":40,"port":"port76e43ebe"},{"path":"meter, one way","number":199,"port":"port76e43ebe"}],"usual":"all, as branches lead","other":"","flows":65536,"idle":"30s"},"branch":{"node":"meter","number":21918,"ways":[{"node":"out","number":17044,"port":"portb856506d","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portb856506d: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portb856506d","to":"port96d145f8","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"all, as branches lead","number":253,"behind":true},{"path":"out meter","number":40,"port":"port9bd1f3d1"}],"usual":"all, as branches lead","other":"","flows":65536,"idle":"30s"},"branch":{"node":"out","number":17044,"back":true,"ways":[{"node":"tell","number":39179,"port":"port96d145f8"},{"node":"meter","number":21918,"port":"port84b7af4d"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port6ee20c52: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port6ee20c52","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"all, as branches lead","number":253,"behind":true},{"path":"out meter","number":40,"port":"port9d435e85"}],"usual":"all, as branches lead","other":"","flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","to":"port257d5762","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"all, as branches lead","number":253,"behind":true},{"path":"out meter","number":40,"port":"portb856506d"},{"path":"meter, one way","number":199,"port":"port9d435e85"},{"path":"","number":128,"port":"port76e43ebe"}],"choice":{"rules":[{"name":"to tell","path":"all, as branches lead","destinations":["198.19.39.110/32","2001:2:0:fc9d:8000::e/128","198.19.39.78/32","2001:2:0:fc9d::e/128"]},{"name":"to check","path":"all, as branches lead","destinations":["198.19.39.112/32","2001:2:0:fc9d:8000::10/128","198.19.39.80/32","2001:2:0:fc9d::10/128"]},{"name":"to web","path":"all, as branches lead","destinations":["198.19.39.107/32","2001:2:0:fc9d:8000::b/128","198.19.39.75/32","2001:2:0:fc9d::b/128"]},{"name":"to meter","path":"all, as branches lead","destinations":["198.19.39.121/32","2001:2:0:fc9d:8000::19/128","198.19.39.89/32","2001:2:0:fc9d::19/128"]},{"name":"to out","path":"all, as branches lead","destinations":["198.19.39.113/32","2001:2:0:fc9d:8000::11/128","198.19.39.81/32","2001:2:0:fc9d::11/128"]},{"name":"marked","path":"all, as branches lead","protocol":"udp"},{"name":"metered","path":"out meter","code_points":"Lg=="},{"name":"watched","path":"meter, one way","sources":["192.0.2.0/24"]}]},"end":1,"flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","to":"port6ee20c52","stay":{"flows":65536,"idle":"30s","census":"250ms"},"paths":{"ways":[{"path":"all, as branches lead","number":253,"behind":true},{"path":"out meter","number":40,"port":"port84b7af4d"},{"path":"meter, one way","number":199,"port":"port9bd1f3d1"},{"path":"","number":128,"port":"port9bd1f3d1"}],"choice":{"rules":[{"name":"to tell","path":"all, as branches lead","destinations":["198.19.39.110/32","2001:2:0:fc9d:8000::e/128","198.19.39.78/32","2001:2:0:fc9d::e/128"]},{"name":"to check","path":"all, as branches lead","destinations":["198.19.39.112/32","2001:2:0:fc9d:8000::10/128","198.19.39.80/32","2001:2:0:fc9d::10/128"]},{"name":"to web","path":"all, as branches lead","destinations":["198.19.39.107/32","2001:2:0:fc9d:8000::b/128","198.19.39.75/32","2001:2:0:fc9d::b/128"]},{"name":"to meter","path":"all, as branches lead","destinations":["198.19.39.121/32","2001:2:0:fc9d:8000::19/128","198.19.39.89/32","2001:2:0:fc9d::19/128"]},{"name":"to out","path":"all, as branches lead","destinations":["198.19.39.113/32","2001:2:0:fc9d:8000::11/128","198.19.39.81/32","2001:2:0:fc9d::11/128"]},{"name":"marked","path":"all, as branches lead","protocol":"udp"},{"name":"metered","path":"out meter","code_points":"Lg=="},{"name":"watched","path":"meter, one way","sources":["192.0.2.0/24"]}]},"end":2,"flows":65536,"idle":"30s"},"hook":"tcx"}
END-OF-INPUT

# health:nfchain.edge._wiring:path: no ip, tc or nft command makes this; nfchain does
nfchain apply edge health nfchain.edge._wiring <<'END-OF-INPUT'
{"forwarder":"nfchain.edge._wiring","nodes":[{"node":"client","east":"port9bd1f3d1","onward":[1],"label":22626},{"node":"tell","west":"port257d5762","east":"port96d145f8","onward":[5,2],"back":[0],"label":39179},{"node":"check","west":"portb8ba074c","east":"port0f5dad3c","on_failure":"block","onward":[3],"back":[1],"label":30213,"version":"7e62ca334ff42804","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:1f:ba:cf:c3:77","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:70:c8:e5:75:22","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:1f:ba:cf:c3:77","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:70:c8:e5:75:22","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"web","west":"portc3144268","east":"port64bb104e","onward":[4],"back":[2],"label":54141},{"node":"meter","west":"port9d435e85","east":"port84b7af4d","onward":[5],"back":[3],"label":21918},{"node":"out","west":"portb856506d","east":"port6ee20c52","onward":[6],"back":[1,4],"label":17044},{"node":"server","west":"port76e43ebe","back":[5],"label":18567}]}
END-OF-INPUT
