#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

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

# ovs:nfchain.edge._wiring:daemons
rm -rf /run/nfchain/edge/ovs
install -d -m 700 /run/nfchain/edge/ovs
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovsdb-tool create /run/nfchain/edge/ovs/conf.db
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovsdb-server /run/nfchain/edge/ovs/conf.db --remote=punix:/run/nfchain/edge/ovs/db.sock -vconsole:off --log-file=/run/nfchain/edge/ovs/ovsdb-server.log --no-chdir --detach --pidfile=/run/nfchain/edge/ovs/ovsdb-server.pid --unixctl=/run/nfchain/edge/ovs/ovsdb-server.ctl
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovs-vsctl --db=unix:/run/nfchain/edge/ovs/db.sock --timeout=60 --no-wait init
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovs-vswitchd unix:/run/nfchain/edge/ovs/db.sock -vconsole:off --log-file=/run/nfchain/edge/ovs/ovs-vswitchd.log --no-chdir --detach --pidfile=/run/nfchain/edge/ovs/ovs-vswitchd.pid --unixctl=/run/nfchain/edge/ovs/ovs-vswitchd.ctl

# link:nfchain.edge._wiring:ovsc3cb277c4254
ip -n nfchain.edge._wiring link add ovsc3cb277c4254 address 22:5f:05:59:f0:e9 mtu 1500 type veth peer name wire address aa:7b:13:65:e8:0c mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge._wiring link set ovsc3cb277c4254 up alias 'nfchain edge _wiring:ovsc3cb277c4254=_wiring:wire'
ip -n nfchain.edge._wiring link set wire up alias 'nfchain edge _wiring:ovsc3cb277c4254=_wiring:wire'

# macvlan:nfchain.edge.client:eth0
ip -n nfchain.edge._wiring link add link wire name eth0 address 02:6d:ef:16:ff:39 mtu 1500 netns nfchain.edge.client type macvlan mode vepa
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge macvlan:client:eth0'

# link:nfchain.edge.a:eth0
ip -n nfchain.edge.a link add eth0 address 02:9a:e9:39:06:ac mtu 1500 type veth peer name ovs49075c1f2373 address 42:8d:67:13:57:cd mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a link set eth0 up alias 'nfchain edge a:eth0=_wiring:ovs49075c1f2373'
ip -n nfchain.edge._wiring link set ovs49075c1f2373 up alias 'nfchain edge a:eth0=_wiring:ovs49075c1f2373'

# link:nfchain.edge.a:eth1
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name ovs321a69db3591 address c2:e9:fc:a7:c0:57 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=_wiring:ovs321a69db3591'
ip -n nfchain.edge._wiring link set ovs321a69db3591 up alias 'nfchain edge a:eth1=_wiring:ovs321a69db3591'

# macvlan:nfchain.edge.server:eth0
ip -n nfchain.edge._wiring link add link wire name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server type macvlan mode vepa
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge macvlan:server:eth0'

# ovs_switch:nfchain.edge._wiring:sw9414886b1e
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovs-vsctl --db=unix:/run/nfchain/edge/ovs/db.sock --timeout=60 -- --may-exist add-br sw9414886b1e -- set bridge sw9414886b1e datapath_type=netdev fail_mode=secure 'external_ids:nfchain="all of edge"' -- --may-exist add-port sw9414886b1e ovsc3cb277c4254 -- set interface ovsc3cb277c4254 ofport_request=53629 -- --may-exist add-port sw9414886b1e ovs49075c1f2373 -- set interface ovs49075c1f2373 ofport_request=36896 -- --may-exist add-port sw9414886b1e ovs321a69db3591 -- set interface ovs321a69db3591 ofport_request=26588
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovs-ofctl --bundle --timeout=60 replace-flows unix:/run/nfchain/edge/ovs/sw9414886b1e.mgmt - <<'END-OF-INPUT'
in_port=53629,dl_dst=02:9a:e9:39:06:ac actions=output:36896
in_port=36896 actions=output:53629
in_port=26588 actions=output:53629
in_port=53629,dl_dst=02:f7:f0:5b:5b:42 actions=output:26588
END-OF-INPUT

# ovs_port:nfchain.edge._wiring:wire
ip netns exec nfchain.edge._wiring sh -c 'ethtool -K wire tx off >/dev/null'

# ovs_port:nfchain.edge.a:eth0
ip netns exec nfchain.edge.a sh -c 'ethtool -K eth0 tx off >/dev/null'

# ovs_port:nfchain.edge.a:eth1
ip netns exec nfchain.edge.a sh -c 'ethtool -K eth1 tx off >/dev/null'

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.112 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.112
ip -n nfchain.edge.client neighbour replace 198.19.39.112 lladdr 02:9a:e9:39:06:ac dev eth0 nud permanent

# address:nfchain.edge.a:eth0=198.19.39.112
ip -n nfchain.edge.a address add 198.19.39.112 peer 198.19.39.88 dev eth0

# neighbour:nfchain.edge.a:eth0=198.19.39.88
ip -n nfchain.edge.a neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::10 lladdr 02:9a:e9:39:06:ac dev eth0 nud permanent

# address:nfchain.edge.a:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d:8000::10 peer 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.a:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.112 dev eth0 onlink proto 78

# route:nfchain.edge.a:198.19.39.64/27
ip -n nfchain.edge.a route add 198.19.39.64/27 via 198.19.39.88 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::10 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0 onlink proto 78

# address:nfchain.edge.a:eth1=198.19.39.80
ip -n nfchain.edge.a address add 198.19.39.80 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.a:eth1=198.19.39.118
ip -n nfchain.edge.a neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.80 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.80
ip -n nfchain.edge.server neighbour replace 198.19.39.80 lladdr 02:f7:f0:5b:5b:42 dev eth0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::10 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::10
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::10 lladdr 02:f7:f0:5b:5b:42 dev eth0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.80 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::10 dev eth0 onlink proto 78
