package nstest

// What the network namespace of a function does to packets that it should not, as a shell has it done there, which no `up` mends and nobody but
// probes sees, and how it ceases to.
const (
	Drops   = "nft add table inet broken; nft 'add chain inet broken c { type filter hook forward priority 0; policy drop; }'"
	Garbles = "nft add table inet broken; nft 'add chain inet broken c { type filter hook forward priority 0; }'; " +
		"nft 'add rule inet broken c meta l4proto udp @th,64,64 set 0x0102030405060708'"
	Mends   = "nft delete table inet broken" // both of these
	Slows   = "tc qdisc add dev eth1 root tbf rate 8kbit burst 1540 limit 1000000"
	Hastens = "tc qdisc change dev eth1 root tbf rate 10gbit burst 1540 limit 1000000" // and what waits goes on, too
)
