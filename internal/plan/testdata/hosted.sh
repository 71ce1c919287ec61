#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes container:nfchain.edge.server, process:server; nothing was made' >&2; exit 3; }

# container:nfchain.edge.server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge container <<'END-OF-INPUT'
{"engine":"docker","node":"server","name":"nfchain.edge.server","image":"nginx:1.25","capabilities":["CHOWN","DAC_OVERRIDE","FOWNER","KILL","NET_BIND_SERVICE","SETGID","SETUID"],"network":"host"}
END-OF-INPUT

# process:server: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"server","netns":"","args":["nginx:1.25"],"env":[],"restart":"always","ready":{"tcp_port":80,"timeout_s":10},"container":{"engine":"docker","name":"nfchain.edge.server","digest":"nginx:1.25 f3f584a105aa081c"}}
END-OF-INPUT
