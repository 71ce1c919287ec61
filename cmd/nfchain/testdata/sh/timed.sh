# Tells how long a chain takes to go down.
began=$(date +%s%N)
timeout 60 $NFCHAIN down $1 || exit
echo took $((($(date +%s%N) - began) / 1000000)) ms
