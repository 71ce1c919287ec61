# What the checks of images have in common. CHAIN is the chain that is up.
in_server() { nfchain exec "$CHAIN" server -- "$@"; }
in_client() { nfchain exec "$CHAIN" client -- "$@"; }

# serve PORT... has a web server at the far end listen, until the check ends.
serve() {
	www=$(mktemp -d)
	echo "from the far end" >"$www/index.html"
	served=
	for port in "$@"; do
		ip netns exec "nfchain.$CHAIN.server" busybox httpd -f -p "$port" -h "$www" &
		served="$served $!"
		until in_server timeout 5 busybox wget -q -O /dev/null "http://127.0.0.1:$port/"; do sleep 0.1; done
	done
	trap 'kill $served 2>/dev/null || true; wait; rm -rf "$www"' EXIT
}

# get URL, as the near end does.
get() { in_client timeout 5 busybox wget -q -O - "$1"; }
