#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes container:nfchain.edge.client, names:server, container:nfchain.edge.server, process:server, process:client; nothing was made' >&2; exit 3; }

# container:nfchain.edge.client: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"client","name":"nfchain.edge.client","image":"","capabilities":[]}
END-OF-INPUT

# names:server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"server","hosts":["127.0.0.1 client","127.0.0.1 server"]}
END-OF-INPUT

# container:nfchain.edge.server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"server","name":"nfchain.edge.server","image":"nginx:1.25","capabilities":["CHOWN","DAC_OVERRIDE","FOWNER","KILL","NET_BIND_SERVICE","SETGID","SETUID"],"beside":"nfchain.edge.client","names":true}
END-OF-INPUT

# namespace:nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0

# namespace:nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0

# process:server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"server","netns":"nfchain.edge.server","args":["nginx:1.25"],"env":[],"restart":"always","ready":{"tcp_port":80,"timeout_s":10},"container":{"engine":"docker","name":"nfchain.edge.server","digest":"nginx:1.25 28207d6090af0a80"}}
END-OF-INPUT

# process:client: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"client","netns":"nfchain.edge.client","args":["/.nfchain","idle"],"env":[],"restart":"always","ready":{"at_once":true,"timeout_s":10},"container":{"engine":"docker","name":"nfchain.edge.client","digest":"dcfc37301c3057d7"}}
END-OF-INPUT
