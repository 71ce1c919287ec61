#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes network:nfchain.edge.a32dd4e3, container:nfchain.edge.client, container:nfchain.edge.server, process:server, process:client; nothing was made' >&2; exit 3; }

# network:nfchain.edge.a32dd4e3: no ip, tc or nft command makes this; nfchain does
nfchain apply edge network <<'END-OF-INPUT'
{"engine":"docker","name":"nfchain.edge.a32dd4e3","driver":"macvlan","options":{"com.docker.network.driver.mtu":"1500","parent":"eth1"}}
END-OF-INPUT

# container:nfchain.edge.client: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"client","name":"nfchain.edge.client","image":"","capabilities":[],"network":"nfchain.edge.a32dd4e3"}
END-OF-INPUT

# container:nfchain.edge.server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"server","name":"nfchain.edge.server","image":"nginx:1.25","capabilities":["CHOWN","DAC_OVERRIDE","FOWNER","KILL","NET_BIND_SERVICE","SETGID","SETUID"],"network":"nfchain.edge.a32dd4e3"}
END-OF-INPUT

# namespace:nfchain.edge.client
ip -n nfchain.edge.client link set lo up

# namespace:nfchain.edge.server
ip -n nfchain.edge.server link set lo up

# process:server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"server","netns":"nfchain.edge.server","args":["nginx:1.25"],"env":[],"restart":"always","ready":{"tcp_port":80,"timeout_s":10},"container":{"engine":"docker","name":"nfchain.edge.server","digest":"nginx:1.25 52ce28c00f03248e"}}
END-OF-INPUT

# process:client: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"client","netns":"nfchain.edge.client","args":["/.nfchain","idle"],"env":[],"restart":"always","ready":{"at_once":true,"timeout_s":10},"container":{"engine":"docker","name":"nfchain.edge.client","digest":"9bc4d18bff7ee1e8"}}
END-OF-INPUT
