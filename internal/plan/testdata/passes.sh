#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes pass:nfchain.edge.count:eth0, pass:nfchain.edge.count:eth1, pass:nfchain.edge.mark:eth0, pass:nfchain.edge.lose:eth1, pass:nfchain.edge.limit:eth0, pass:nfchain.edge.limit:eth1; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.count
ip netns add nfchain.edge.count
ip -n nfchain.edge.count link set lo up
ip netns exec nfchain.edge.count sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.count sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.count sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.count sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.count sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.count sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.mark
ip netns add nfchain.edge.mark
ip -n nfchain.edge.mark link set lo up
ip netns exec nfchain.edge.mark sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.mark sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.mark sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.mark sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.mark sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.mark sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.lose
ip netns add nfchain.edge.lose
ip -n nfchain.edge.lose link set lo up
ip netns exec nfchain.edge.lose sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.lose sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.lose sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.lose sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.lose sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.lose sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.limit
ip netns add nfchain.edge.limit
ip -n nfchain.edge.limit link set lo up
ip netns exec nfchain.edge.limit sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.limit sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.limit sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.limit sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.limit sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.limit sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name eth0 address 02:cb:14:93:45:5f mtu 1500 netns nfchain.edge.count
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=count:eth0'
ip -n nfchain.edge.count link set eth0 up alias 'nfchain edge client:eth0=count:eth0'

# link:nfchain.edge.count:eth1
ip -n nfchain.edge.count link add eth1 address 02:26:a3:66:ce:1c mtu 1500 type veth peer name eth0 address 02:7b:af:a0:f5:67 mtu 1500 netns nfchain.edge.mark
ip -n nfchain.edge.count link set eth1 up alias 'nfchain edge count:eth1=mark:eth0'
ip -n nfchain.edge.mark link set eth0 up alias 'nfchain edge count:eth1=mark:eth0'

# link:nfchain.edge.mark:eth1
ip -n nfchain.edge.mark link add eth1 address 02:23:dd:5b:d4:c2 mtu 1500 type veth peer name eth0 address 02:b7:cc:27:32:d9 mtu 1500 netns nfchain.edge.lose
ip -n nfchain.edge.mark link set eth1 up alias 'nfchain edge mark:eth1=lose:eth0'
ip -n nfchain.edge.lose link set eth0 up alias 'nfchain edge mark:eth1=lose:eth0'

# link:nfchain.edge.lose:eth1
ip -n nfchain.edge.lose link add eth1 address 02:3b:dc:d2:34:44 mtu 1500 type veth peer name eth0 address 02:41:0a:4a:d3:ca mtu 1500 netns nfchain.edge.limit
ip -n nfchain.edge.lose link set eth1 up alias 'nfchain edge lose:eth1=limit:eth0'
ip -n nfchain.edge.limit link set eth0 up alias 'nfchain edge lose:eth1=limit:eth0'

# link:nfchain.edge.limit:eth1
ip -n nfchain.edge.limit link add eth1 address 02:d8:48:24:e8:e4 mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.edge.limit link set eth1 up alias 'nfchain edge limit:eth1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge limit:eth1=server:eth0'

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.103 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.103
ip -n nfchain.edge.client neighbour replace 198.19.39.103 lladdr 02:cb:14:93:45:5f dev eth0 nud permanent

# address:nfchain.edge.count:eth0=198.19.39.103
ip -n nfchain.edge.count address add 198.19.39.103 peer 198.19.39.88 dev eth0

# neighbour:nfchain.edge.count:eth0=198.19.39.88
ip -n nfchain.edge.count neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::7 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::7
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::7 lladdr 02:cb:14:93:45:5f dev eth0 nud permanent

# address:nfchain.edge.count:eth0=2001:2:0:fc9d:8000::7
ip -n nfchain.edge.count address add 2001:2:0:fc9d:8000::7 peer 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.count:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.count neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.103 dev eth0 onlink proto 78

# route:nfchain.edge.count:198.19.39.64/27
ip -n nfchain.edge.count route add 198.19.39.64/27 via 198.19.39.88 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::7 dev eth0 onlink proto 78

# route:nfchain.edge.count:2001:2:0:fc9d::/65
ip -n nfchain.edge.count route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0 onlink proto 78

# address:nfchain.edge.count:eth1=198.19.39.71
ip -n nfchain.edge.count address add 198.19.39.71 peer 198.19.39.121 dev eth1

# neighbour:nfchain.edge.count:eth1=198.19.39.121
ip -n nfchain.edge.count neighbour replace 198.19.39.121 lladdr 02:7b:af:a0:f5:67 dev eth1 nud permanent

# address:nfchain.edge.mark:eth0=198.19.39.121
ip -n nfchain.edge.mark address add 198.19.39.121 peer 198.19.39.71 dev eth0

# neighbour:nfchain.edge.mark:eth0=198.19.39.71
ip -n nfchain.edge.mark neighbour replace 198.19.39.71 lladdr 02:26:a3:66:ce:1c dev eth0 nud permanent

# address:nfchain.edge.count:eth1=2001:2:0:fc9d::7
ip -n nfchain.edge.count address add 2001:2:0:fc9d::7 peer 2001:2:0:fc9d:8000::19 dev eth1 nodad

# neighbour:nfchain.edge.count:eth1=2001:2:0:fc9d:8000::19
ip -n nfchain.edge.count neighbour replace 2001:2:0:fc9d:8000::19 lladdr 02:7b:af:a0:f5:67 dev eth1 nud permanent

# address:nfchain.edge.mark:eth0=2001:2:0:fc9d:8000::19
ip -n nfchain.edge.mark address add 2001:2:0:fc9d:8000::19 peer 2001:2:0:fc9d::7 dev eth0 nodad

# neighbour:nfchain.edge.mark:eth0=2001:2:0:fc9d::7
ip -n nfchain.edge.mark neighbour replace 2001:2:0:fc9d::7 lladdr 02:26:a3:66:ce:1c dev eth0 nud permanent

# route:nfchain.edge.count:198.19.39.96/27
ip -n nfchain.edge.count route add 198.19.39.96/27 via 198.19.39.121 dev eth1 onlink proto 78

# route:nfchain.edge.mark:198.19.39.64/27
ip -n nfchain.edge.mark route add 198.19.39.64/27 via 198.19.39.71 dev eth0 onlink proto 78

# route:nfchain.edge.count:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.count route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::19 dev eth1 onlink proto 78

# route:nfchain.edge.mark:2001:2:0:fc9d::/65
ip -n nfchain.edge.mark route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::7 dev eth0 onlink proto 78

# address:nfchain.edge.mark:eth1=198.19.39.89
ip -n nfchain.edge.mark address add 198.19.39.89 peer 198.19.39.105 dev eth1

# neighbour:nfchain.edge.mark:eth1=198.19.39.105
ip -n nfchain.edge.mark neighbour replace 198.19.39.105 lladdr 02:b7:cc:27:32:d9 dev eth1 nud permanent

# address:nfchain.edge.lose:eth0=198.19.39.105
ip -n nfchain.edge.lose address add 198.19.39.105 peer 198.19.39.89 dev eth0

# neighbour:nfchain.edge.lose:eth0=198.19.39.89
ip -n nfchain.edge.lose neighbour replace 198.19.39.89 lladdr 02:23:dd:5b:d4:c2 dev eth0 nud permanent

# address:nfchain.edge.mark:eth1=2001:2:0:fc9d::19
ip -n nfchain.edge.mark address add 2001:2:0:fc9d::19 peer 2001:2:0:fc9d:8000::9 dev eth1 nodad

# neighbour:nfchain.edge.mark:eth1=2001:2:0:fc9d:8000::9
ip -n nfchain.edge.mark neighbour replace 2001:2:0:fc9d:8000::9 lladdr 02:b7:cc:27:32:d9 dev eth1 nud permanent

# address:nfchain.edge.lose:eth0=2001:2:0:fc9d:8000::9
ip -n nfchain.edge.lose address add 2001:2:0:fc9d:8000::9 peer 2001:2:0:fc9d::19 dev eth0 nodad

# neighbour:nfchain.edge.lose:eth0=2001:2:0:fc9d::19
ip -n nfchain.edge.lose neighbour replace 2001:2:0:fc9d::19 lladdr 02:23:dd:5b:d4:c2 dev eth0 nud permanent

# route:nfchain.edge.mark:198.19.39.96/27
ip -n nfchain.edge.mark route add 198.19.39.96/27 via 198.19.39.105 dev eth1 onlink proto 78

# route:nfchain.edge.lose:198.19.39.64/27
ip -n nfchain.edge.lose route add 198.19.39.64/27 via 198.19.39.89 dev eth0 onlink proto 78

# route:nfchain.edge.mark:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.mark route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::9 dev eth1 onlink proto 78

# route:nfchain.edge.lose:2001:2:0:fc9d::/65
ip -n nfchain.edge.lose route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::19 dev eth0 onlink proto 78

# address:nfchain.edge.lose:eth1=198.19.39.73
ip -n nfchain.edge.lose address add 198.19.39.73 peer 198.19.39.126 dev eth1

# neighbour:nfchain.edge.lose:eth1=198.19.39.126
ip -n nfchain.edge.lose neighbour replace 198.19.39.126 lladdr 02:41:0a:4a:d3:ca dev eth1 nud permanent

# address:nfchain.edge.limit:eth0=198.19.39.126
ip -n nfchain.edge.limit address add 198.19.39.126 peer 198.19.39.73 dev eth0

# neighbour:nfchain.edge.limit:eth0=198.19.39.73
ip -n nfchain.edge.limit neighbour replace 198.19.39.73 lladdr 02:3b:dc:d2:34:44 dev eth0 nud permanent

# address:nfchain.edge.lose:eth1=2001:2:0:fc9d::9
ip -n nfchain.edge.lose address add 2001:2:0:fc9d::9 peer 2001:2:0:fc9d:8000::1e dev eth1 nodad

# neighbour:nfchain.edge.lose:eth1=2001:2:0:fc9d:8000::1e
ip -n nfchain.edge.lose neighbour replace 2001:2:0:fc9d:8000::1e lladdr 02:41:0a:4a:d3:ca dev eth1 nud permanent

# address:nfchain.edge.limit:eth0=2001:2:0:fc9d:8000::1e
ip -n nfchain.edge.limit address add 2001:2:0:fc9d:8000::1e peer 2001:2:0:fc9d::9 dev eth0 nodad

# neighbour:nfchain.edge.limit:eth0=2001:2:0:fc9d::9
ip -n nfchain.edge.limit neighbour replace 2001:2:0:fc9d::9 lladdr 02:3b:dc:d2:34:44 dev eth0 nud permanent

# route:nfchain.edge.lose:198.19.39.96/27
ip -n nfchain.edge.lose route add 198.19.39.96/27 via 198.19.39.126 dev eth1 onlink proto 78

# route:nfchain.edge.limit:198.19.39.64/27
ip -n nfchain.edge.limit route add 198.19.39.64/27 via 198.19.39.73 dev eth0 onlink proto 78

# route:nfchain.edge.lose:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.lose route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::1e dev eth1 onlink proto 78

# route:nfchain.edge.limit:2001:2:0:fc9d::/65
ip -n nfchain.edge.limit route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::9 dev eth0 onlink proto 78

# address:nfchain.edge.limit:eth1=198.19.39.94
ip -n nfchain.edge.limit address add 198.19.39.94 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.limit:eth1=198.19.39.118
ip -n nfchain.edge.limit neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.94 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.94
ip -n nfchain.edge.server neighbour replace 198.19.39.94 lladdr 02:d8:48:24:e8:e4 dev eth0 nud permanent

# address:nfchain.edge.limit:eth1=2001:2:0:fc9d::1e
ip -n nfchain.edge.limit address add 2001:2:0:fc9d::1e peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.limit:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.limit neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::1e dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::1e
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::1e lladdr 02:d8:48:24:e8:e4 dev eth0 nud permanent

# route:nfchain.edge.limit:198.19.39.96/27
ip -n nfchain.edge.limit route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.94 dev eth0 onlink proto 78

# route:nfchain.edge.limit:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.limit route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::1e dev eth0 onlink proto 78

# pass:nfchain.edge.count:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge.count <<'END-OF-INPUT'
{"device":"eth0","steps":[{"act":"count","slot":0,"args":[0,0,0]}]}
END-OF-INPUT

# pass:nfchain.edge.count:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge.count <<'END-OF-INPUT'
{"device":"eth1","steps":[{"act":"count","slot":0,"args":[0,0,0]}]}
END-OF-INPUT

# pass:nfchain.edge.mark:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge.mark <<'END-OF-INPUT'
{"device":"eth0","steps":[{"act":"dscp","slot":0,"args":[46,0,0]}]}
END-OF-INPUT

# pass:nfchain.edge.lose:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge.lose <<'END-OF-INPUT'
{"device":"eth1","steps":[{"act":"drop","slot":0,"args":[0,9007199254741,9716232063330790915]}]}
END-OF-INPUT

# pass:nfchain.edge.limit:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge.limit <<'END-OF-INPUT'
{"device":"eth0","steps":[{"act":"limit","slot":0,"args":[84288733184,671088640,4202497]}],"flows":65536}
END-OF-INPUT

# pass:nfchain.edge.limit:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge.limit <<'END-OF-INPUT'
{"device":"eth1","steps":[{"act":"limit","slot":0,"args":[84288733184,671088640,4202497]}],"flows":65536}
END-OF-INPUT
