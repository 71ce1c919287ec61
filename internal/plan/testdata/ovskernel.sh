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

# ovs_switch:nfchain.edge._wiring:swb6850abc01
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovs-vsctl --db=unix:/run/nfchain/edge/ovs/db.sock --timeout=60 -- --may-exist add-br swb6850abc01 -- set bridge swb6850abc01 datapath_type=system fail_mode=secure 'external_ids:nfchain="client:eth0-9bd1f3d155=a:eth0-49075c1f23 1"' -- --may-exist add-port swb6850abc01 eth0-9bd1f3d155 -- set interface eth0-9bd1f3d155 ofport_request=1 type=internal mtu_request=1500 -- --may-exist add-port swb6850abc01 eth0-49075c1f23 -- set interface eth0-49075c1f23 ofport_request=2 type=internal mtu_request=1500
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovs-ofctl --bundle --timeout=60 replace-flows unix:/run/nfchain/edge/ovs/swb6850abc01.mgmt - <<'END-OF-INPUT'
in_port=1 actions=output:2
in_port=2 actions=output:1
END-OF-INPUT

# ovs_port:nfchain.edge.client:eth0-9bd1f3d155
ip -n nfchain.edge._wiring link set eth0-9bd1f3d155 netns nfchain.edge.client name eth0-9bd1f3d155
ip -n nfchain.edge.client link set eth0-9bd1f3d155 address 02:6d:ef:16:ff:39 mtu 1500 up alias 'nfchain edge ovs:client:eth0-9bd1f3d155'

# ovs_port:nfchain.edge.a:eth0-49075c1f23
ip -n nfchain.edge._wiring link set eth0-49075c1f23 netns nfchain.edge.a name eth0-49075c1f23
ip -n nfchain.edge.a link set eth0-49075c1f23 address 02:9a:e9:39:06:ac mtu 1500 up alias 'nfchain edge ovs:a:eth0-49075c1f23'

# ovs_switch:nfchain.edge._wiring:swa678b0ad95
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovs-vsctl --db=unix:/run/nfchain/edge/ovs/db.sock --timeout=60 -- --may-exist add-br swa678b0ad95 -- set bridge swa678b0ad95 datapath_type=system fail_mode=secure 'external_ids:nfchain="a:eth1-321a69db35=server:eth0-76e43ebec6 1"' -- --may-exist add-port swa678b0ad95 eth1-321a69db35 -- set interface eth1-321a69db35 ofport_request=1 type=internal mtu_request=1500 -- --may-exist add-port swa678b0ad95 eth0-76e43ebec6 -- set interface eth0-76e43ebec6 ofport_request=2 type=internal mtu_request=1500
ip netns exec nfchain.edge._wiring env NFCHAIN_OVS=edge OVS_RUNDIR=/run/nfchain/edge/ovs OVS_LOGDIR=/run/nfchain/edge/ovs OVS_DBDIR=/run/nfchain/edge/ovs OVS_SYSCONFDIR=/run/nfchain/edge/ovs ovs-ofctl --bundle --timeout=60 replace-flows unix:/run/nfchain/edge/ovs/swa678b0ad95.mgmt - <<'END-OF-INPUT'
in_port=1 actions=output:2
in_port=2 actions=output:1
END-OF-INPUT

# ovs_port:nfchain.edge.a:eth1-321a69db35
ip -n nfchain.edge._wiring link set eth1-321a69db35 netns nfchain.edge.a name eth1-321a69db35
ip -n nfchain.edge.a link set eth1-321a69db35 address 02:f7:f0:5b:5b:42 mtu 1500 up alias 'nfchain edge ovs:a:eth1-321a69db35'

# ovs_port:nfchain.edge.server:eth0-76e43ebec6
ip -n nfchain.edge._wiring link set eth0-76e43ebec6 netns nfchain.edge.server name eth0-76e43ebec6
ip -n nfchain.edge.server link set eth0-76e43ebec6 address 02:60:11:b7:31:ea mtu 1500 up alias 'nfchain edge ovs:server:eth0-76e43ebec6'

# address:nfchain.edge.client:eth0-9bd1f3d155=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.112 dev eth0-9bd1f3d155

# neighbour:nfchain.edge.client:eth0-9bd1f3d155=198.19.39.112
ip -n nfchain.edge.client neighbour replace 198.19.39.112 lladdr 02:9a:e9:39:06:ac dev eth0-9bd1f3d155 nud permanent

# address:nfchain.edge.a:eth0-49075c1f23=198.19.39.112
ip -n nfchain.edge.a address add 198.19.39.112 peer 198.19.39.88 dev eth0-49075c1f23

# neighbour:nfchain.edge.a:eth0-49075c1f23=198.19.39.88
ip -n nfchain.edge.a neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0-49075c1f23 nud permanent

# address:nfchain.edge.client:eth0-9bd1f3d155=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::10 dev eth0-9bd1f3d155 nodad

# neighbour:nfchain.edge.client:eth0-9bd1f3d155=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::10 lladdr 02:9a:e9:39:06:ac dev eth0-9bd1f3d155 nud permanent

# address:nfchain.edge.a:eth0-49075c1f23=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d:8000::10 peer 2001:2:0:fc9d::18 dev eth0-49075c1f23 nodad

# neighbour:nfchain.edge.a:eth0-49075c1f23=2001:2:0:fc9d::18
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0-49075c1f23 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.112 dev eth0-9bd1f3d155 onlink proto 78

# route:nfchain.edge.a:198.19.39.64/27
ip -n nfchain.edge.a route add 198.19.39.64/27 via 198.19.39.88 dev eth0-49075c1f23 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::10 dev eth0-9bd1f3d155 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0-49075c1f23 onlink proto 78

# address:nfchain.edge.a:eth1-321a69db35=198.19.39.80
ip -n nfchain.edge.a address add 198.19.39.80 peer 198.19.39.118 dev eth1-321a69db35

# neighbour:nfchain.edge.a:eth1-321a69db35=198.19.39.118
ip -n nfchain.edge.a neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1-321a69db35 nud permanent

# address:nfchain.edge.server:eth0-76e43ebec6=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.80 dev eth0-76e43ebec6

# neighbour:nfchain.edge.server:eth0-76e43ebec6=198.19.39.80
ip -n nfchain.edge.server neighbour replace 198.19.39.80 lladdr 02:f7:f0:5b:5b:42 dev eth0-76e43ebec6 nud permanent

# address:nfchain.edge.a:eth1-321a69db35=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 peer 2001:2:0:fc9d:8000::16 dev eth1-321a69db35 nodad

# neighbour:nfchain.edge.a:eth1-321a69db35=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1-321a69db35 nud permanent

# address:nfchain.edge.server:eth0-76e43ebec6=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::10 dev eth0-76e43ebec6 nodad

# neighbour:nfchain.edge.server:eth0-76e43ebec6=2001:2:0:fc9d::10
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::10 lladdr 02:f7:f0:5b:5b:42 dev eth0-76e43ebec6 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.118 dev eth1-321a69db35 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.80 dev eth0-76e43ebec6 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1-321a69db35 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::10 dev eth0-76e43ebec6 onlink proto 78
