#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes network:nfchain.edge.70fbdc87, container:nfchain.edge.server, process:server; nothing was made' >&2; exit 3; }

# network:nfchain.edge.70fbdc87: no ip, tc or nft command makes this; nfchain does
nfchain apply edge network <<'END-OF-INPUT'
{"engine":"docker","name":"nfchain.edge.70fbdc87","driver":"bridge","options":{"com.docker.network.driver.mtu":"1500"}}
END-OF-INPUT

# container:nfchain.edge.server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"server","name":"nfchain.edge.server","image":"","capabilities":[],"network":"nfchain.edge.70fbdc87","publish":"5201-5204,80"}
END-OF-INPUT

# namespace:nfchain.edge.server
ip -n nfchain.edge.server link set lo up

# process:server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"server","netns":"nfchain.edge.server","args":["/.nfchain","idle"],"env":[],"restart":"always","ready":{"at_once":true,"timeout_s":10},"container":{"engine":"docker","name":"nfchain.edge.server","digest":"6b8809d47df0ea7c"}}
END-OF-INPUT
