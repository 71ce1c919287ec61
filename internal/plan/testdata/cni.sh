#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes cni:nfchain.edge.client:eth0, cni:nfchain.edge.server:eth0; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up

# cni:nfchain.edge.client:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge cni nfchain.edge.client <<'END-OF-INPUT'
{"namespace":"nfchain.edge.client","device":"eth0","network":"{\"cniVersion\": \"1.0.0\", \"name\": \"lab\", \"plugins\": [{\"type\": \"bridge\"}, {\"type\": \"firewall\"}]}","plugins":["/opt/cni/bin","/usr/lib/cni"]}
END-OF-INPUT

# cni:nfchain.edge.server:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge cni nfchain.edge.server <<'END-OF-INPUT'
{"namespace":"nfchain.edge.server","device":"eth0","network":"{\"cniVersion\": \"1.0.0\", \"name\": \"lab\", \"plugins\": [{\"type\": \"bridge\"}, {\"type\": \"firewall\"}]}","plugins":["/opt/cni/bin","/usr/lib/cni"]}
END-OF-INPUT
