package filter_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/bpf"

	"nfchain.dev/nfchain/internal/capture/filter"
)

// frame begins one of a type.
func frame(kind uint16, rest ...[]byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte("\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02"), kind)
	for _, r := range rest {
		b = append(b, r...)
	}
	return b
}

// ip4 is a header of IPv4 with so many words of options.
func ip4(from, to string, protocol byte, fragment uint16, options int) []byte {
	b := make([]byte, 20+4*options)
	b[0], b[8], b[9] = byte(0x45+options), 64, protocol
	binary.BigEndian.PutUint16(b[6:], fragment)
	copy(b[12:], netip.MustParseAddr(from).AsSlice())
	copy(b[16:], netip.MustParseAddr(to).AsSlice())
	return b
}

func ip6(from, to string, next byte) []byte {
	b := make([]byte, 40)
	b[0], b[6], b[7] = 0x60, next, 64
	copy(b[8:], netip.MustParseAddr(from).AsSlice())
	copy(b[24:], netip.MustParseAddr(to).AsSlice())
	return b
}

// ports begin what TCP, UDP and SCTP have.
func ports(from, to uint16) []byte {
	b := binary.BigEndian.AppendUint16(nil, from)
	return append(binary.BigEndian.AppendUint16(b, to), make([]byte, 16)...)
}

func arp(sender, target string) []byte {
	b := append([]byte{0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1}, netip.MustParseAddr(sender).AsSlice()...)
	return append(append(b, make([]byte, 6)...), netip.MustParseAddr(target).AsSlice()...)
}

// packets by their names in the table of cases.
var packets = map[string][]byte{
	"tcp4":  frame(0x0800, ip4("198.18.0.1", "198.18.0.2", 6, 0, 0), ports(40000, 443)),
	"tcp4o": frame(0x0800, ip4("198.18.0.1", "198.18.0.2", 6, 0, 3), ports(40000, 443)),
	"udp4":  frame(0x0800, ip4("198.18.0.2", "198.18.0.1", 17, 0, 0), ports(53, 5353)),
	"frag4": frame(0x0800, ip4("198.18.0.1", "198.18.0.2", 6, 0x2001, 0), ports(40000, 443)),
	"icmp4": frame(0x0800, ip4("10.0.0.1", "198.18.0.2", 1, 0, 0), make([]byte, 8)),
	"sctp4": frame(0x0800, ip4("10.0.0.1", "198.18.0.2", 132, 0, 0), ports(443, 5000)),
	"tcp6":  frame(0x86dd, ip6("2001:2::1", "2001:2::2", 6), ports(40000, 443)),
	"frag6": frame(0x86dd, ip6("2001:2::1", "2001:2::2", 44), []byte{17, 0, 0, 1, 0, 0, 0, 1}, ports(1, 2)),
	"nd6":   frame(0x86dd, ip6("2001:2::1", "ff02::1", 58), make([]byte, 24)),
	"arp":   frame(0x0806, arp("198.18.0.1", "198.18.0.9")),
	"lldp":  frame(0x88cc, make([]byte, 46)),
}

var names = map[string][]netip.Addr{
	"client": {netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("2001:2::1")},
	"six":    {netip.MustParseAddr("2001:2::1")},
}

const snaplen = 100

// compiling is how an expression becomes a program.
type compiling func(string, uint32, map[string][]netip.Addr) ([]bpf.Instruction, error)

// fitting are the names of the packets that fit an expression, where each is in a frame as told.
func fitting(t *testing.T, expression string, compile compiling, framed func([]byte) []byte) map[string]bool {
	t.Helper()
	program, err := compile(expression, snaplen, names)
	if err != nil {
		t.Fatal(err)
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	fit := map[string]bool{}
	for name, b := range packets {
		n, err := vm.Run(framed(b))
		if err != nil || n != 0 && n != snaplen {
			t.Fatalf("%s: %s: %d, %v", expression, name, n, err)
		}
		fit[name] = n == snaplen
	}
	return fit
}

func plain(b []byte) []byte { return b }

// headed puts a frame behind a header of RFC 8300 with so many bytes of metadata.
func headed(metadata int) func([]byte) []byte {
	return func(b []byte) []byte {
		const hops, ethernet = 63, 3
		base := uint32(hops)<<22 | uint32(2+metadata/4)<<16 | 2<<8 | ethernet
		return frame(0x894f, binary.BigEndian.AppendUint32(nil, base), []byte{0, 0, 77, 254}, bytes.Repeat([]byte{8}, metadata), b)
	}
}

// TestBehind: what fits behind a header is what fits without, and so is what has none.
func TestBehind(t *testing.T) {
	for _, expression := range []string{
		"", "ip", "arp", "not ip", "tcp", "udp port 53 or 5000", "src net 198.18.0.0/15", "tcp dst port 443 and src host 2001:2::1",
		"portrange 5000-5353", "ip6 proto 17", "not port 443", "host client",
	} {
		want := fitting(t, expression, filter.Compile, plain)
		for how, framed := range map[string]func([]byte) []byte{"plain": plain, "without metadata": headed(0), "with metadata": headed(16)} {
			if got := fitting(t, expression, filter.Behind, framed); !maps.Equal(got, want) {
				t.Errorf("%q, %s: %v, want %v", expression, how, got, want)
			}
		}
	}
	if got := fitting(t, "ip", filter.Behind, headed(8)); got["tcp4"] {
		t.Error("what is behind a header of another length is not known")
	}
}

// TestExpressions: what fits is what tcpdump 4.99 takes for the same; an address alone it refuses.
func TestExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		"":                                   "tcp4 tcp4o udp4 frag4 icmp4 sctp4 tcp6 frag6 nd6 arp lldp",
		"ip":                                 "tcp4 tcp4o udp4 frag4 icmp4 sctp4",
		"ip6":                                "tcp6 frag6 nd6",
		"arp":                                "arp",
		"rarp":                               "",
		"tcp":                                "tcp4 tcp4o frag4 tcp6",
		"udp":                                "udp4 frag6",
		"sctp":                               "sctp4",
		"icmp":                               "icmp4",
		"icmp6":                              "nd6",
		"not ip":                             "tcp6 frag6 nd6 arp lldp",
		"! ( ip or ip6 )":                    "arp lldp",
		"!(ip||ip6)&&arp":                    "arp",
		"host 198.18.0.1":                    "tcp4 tcp4o udp4 frag4 arp",
		"198.18.0.1":                         "tcp4 tcp4o udp4 frag4 arp",
		"src host 198.18.0.1":                "tcp4 tcp4o frag4 arp",
		"src 198.18.0.1":                     "tcp4 tcp4o frag4 arp",
		"dst 198.18.0.9":                     "arp",
		"ip host 198.18.0.1":                 "tcp4 tcp4o udp4 frag4",
		"arp host 198.18.0.1":                "arp",
		"host 2001:2::2":                     "tcp6 frag6",
		"ip6 src host 2001:2::1":             "tcp6 frag6 nd6",
		"host 10.0.0.1 or 2001:2::2":         "icmp4 sctp4 tcp6 frag6",
		"net 198.18.0.0/15":                  "tcp4 tcp4o udp4 frag4 icmp4 sctp4 arp",
		"src net 198.18.0.0/15":              "tcp4 tcp4o udp4 frag4 arp",
		"net 0.0.0.0/0":                      "tcp4 tcp4o udp4 frag4 icmp4 sctp4 arp",
		"dst net ff00::/8":                   "nd6",
		"net 2001:2::/48":                    "tcp6 frag6 nd6",
		"dst net 2001:2::2/127":              "tcp6 frag6",
		"port 443":                           "tcp4 tcp4o sctp4 tcp6",
		"tcp port 443":                       "tcp4 tcp4o tcp6",
		"tcp src port 443":                   "",
		"dst port 443":                       "tcp4 tcp4o tcp6",
		"src port 443":                       "sctp4",
		"udp port 53 or 5000":                "udp4",
		"portrange 5000-5353":                "udp4 sctp4",
		"src portrange 40000-50000":          "tcp4 tcp4o tcp6",
		"udp dst portrange 1-5352":           "",
		"proto 6":                            "tcp4 tcp4o frag4 tcp6",
		"ip proto 6":                         "tcp4 tcp4o frag4",
		"ip6 proto 17":                       "frag6",
		"less 50":                            "icmp4 arp",
		"greater 74":                         "tcp6 frag6 nd6",
		"tcp and not port 443":               "frag4",
		"ip6 or ip and icmp":                 "icmp4",
		"icmp and ip or ip6":                 "icmp4 tcp6 frag6 nd6",
		"not tcp and not udp and ip":         "icmp4 sctp4",
		"host client":                        "tcp4 tcp4o udp4 frag4 tcp6 frag6 nd6 arp",
		"ip6 host client":                    "tcp6 frag6 nd6",
		"dst client and udp":                 "udp4",
		"src host client and (tcp or icmp6)": "tcp4 tcp4o frag4 tcp6 nd6",
		"tcp dst port 443 and src host 2001:2::1": "tcp6",
	} {
		fit := fitting(t, expression, filter.Compile, plain)
		for name := range packets {
			if wanted := strings.Contains(" "+want+" ", " "+name+" "); fit[name] != wanted {
				t.Errorf("%q: %s fits: %t", expression, name, fit[name])
			}
		}
	}
}

func TestWrongExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		"host":                `nothing follows "host"`,
		"host nobody":         "neither an address nor a node",
		"banana":              "neither an address nor a node",
		"tcp banana":          `"banana" is not expected there`,
		"(tcp":                "a ) is missing",
		"tcp)":                `")" is not expected there`,
		"tcp and":             "ends where a condition is expected",
		"not":                 "ends where a condition is expected",
		"()":                  `nothing follows "("`,
		"net 198.18":          "is not a network",
		"ip6 host 198.18.0.1": "no address of ip6",
		"ip net 2001:2::/48":  "is no network of ip",
		"ip host six":         "no address of ip",
		"tcp host 198.18.0.1": "no address of tcp",
		"icmp port 4":         "icmp has no ports",
		"port http":           `"http" is not a number from 0 to 65535`,
		"port 65536":          "is not a number",
		"portrange 5000":      "is not a range",
		"portrange 5000-x":    "is not a number",
		"proto 256":           "is not a number from 0 to 255",
		"src proto 6":         "neither src nor dst",
		"tcp proto 6":         "one of ip or ip6",
		"less":                "is not a number",
		strings.Repeat("port 1 or ", 1000) + "port 1": "leave something out",
	} {
		if _, err := filter.Compile(expression, snaplen, names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %.200v, want %q", expression, err, want)
		}
	}
}

// FuzzCompile: what compiles runs on any packet, and the kernel's rules for programs hold.
func FuzzCompile(f *testing.F) {
	f.Add("tcp and not (port 443 or host client)", packets["tcp4o"])
	f.Add("src net 198.18.0.0/15 or ip6 proto 17", packets["frag6"])
	f.Fuzz(func(t *testing.T, expression string, packet []byte) {
		program, err := filter.Compile(expression, snaplen, names)
		if err != nil {
			return
		}
		vm, err := bpf.NewVM(program)
		if err != nil {
			t.Fatalf("%q: %v", expression, err)
		}
		if _, err := vm.Run(packet); err != nil {
			t.Errorf("%q: %v", expression, err)
		}
	})
}
