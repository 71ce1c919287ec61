package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// TestGateway of a network is the one that is told, and else the first address of a subnet in which the engine chose it.
func TestGateway(t *testing.T) {
	for ipam, want := range map[string]string{
		`{"Subnet": "198.51.100.0/24", "Gateway": "198.51.100.9"}`:                        "198.51.100.9",
		`{"Subnet": "2001:db8::/64"}, {"Subnet": "198.51.100.0/24"}`:                      "198.51.100.1",
		`{"Subnet": "198.51.100.7/24"}`:                                                   "198.51.100.1",
		`{"Subnet": "198.51.100.0/24", "IPRange": "198.51.100.128/25"}`:                   "",
		`{"Subnet": "198.51.100.0/24", "AuxiliaryAddresses": {"router": "198.51.100.1"}}`: "",
		`{"Subnet": "198.51.100.0/31"}`:                                                   "",
		`{"Subnet": "2001:db8::/64", "Gateway": "2001:db8::1"}`:                           "",
	} {
		e := standIn(t, map[string]http.HandlerFunc{"/networks/theirs": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"Name": "theirs", "IPAM": {"Config": [`+ipam+`]}}`)
		}})
		d := e.(patientNetworking).patient.asked.(docker)
		got, err := d.gateway(t.Context(), "theirs")
		switch {
		case want == "" && (err == nil || !strings.Contains(err.Error(), "has no gateway of IPv4")):
			t.Errorf("%s: %v, %v", ipam, got, err)
		case want != "" && (err != nil || got.String() != want):
			t.Errorf("%s: %v, %v, want %s", ipam, got, err, want)
		}
	}
}

// TestTaken: where another has a port that is to be published, which it is and what to do are told.
func TestTaken(t *testing.T) {
	const told = "port 5201 of 198.51.100.1, at which it is to be published, is taken; publish another, or end what has that one"
	for said, want := range map[string]string{
		"driver failed programming external connectivity on endpoint nfchain.edge.server (0a1b): Bind for 198.51.100.1:5201 failed: port is already allocated": told,
		"Error starting userland proxy: listen tcp4 198.51.100.1:5201: bind: address already in use":                                                           told,
		"failed to bind host port 198.51.100.1:5201/tcp: address already in use":                                                                               told,
		"no space left on device": "",
	} {
		e := standIn(t, map[string]http.HandlerFunc{"/containers/x/start": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(map[string]string{"message": said})
		}})
		_, err := e.Start(t.Context(), "x")
		if err == nil || !strings.Contains(err.Error(), said) || !strings.Contains(err.Error(), want) || want == "" && strings.Contains(err.Error(), "taken") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestNoNetwork: Docker makes no network for a container that is to have none of its own, unless that is to be as its command line makes one.
func TestNoNetwork(t *testing.T) {
	for _, c := range []struct {
		by       speaker
		wanted   Wanted
		mode     string
		disabled bool
	}{
		{asDocker, Wanted{}, "none", true}, {asDocker, Wanted{Plain: true}, "none", false}, {asDocker, Wanted{Network: "lab"}, "lab", false},
		{asDocker, Wanted{Beside: "web"}, "container:web", false}, {asPodman, Wanted{}, "none", false},
	} {
		var made struct {
			NetworkDisabled bool
			HostConfig      struct{ NetworkMode string }
		}
		var unread error
		e := standInOf(t, c.by, map[string]http.HandlerFunc{
			"/box:1/json": of(runtime.GOARCH),
			"/containers/create": func(w http.ResponseWriter, r *http.Request) {
				unread = json.NewDecoder(r.Body).Decode(&made)
				_, _ = io.WriteString(w, `{"Id": "c"}`)
			},
		})
		c.wanted.Image = "box:1"
		_, err := e.Create(t.Context(), c.wanted)
		if err != nil || unread != nil || made.HostConfig.NetworkMode != c.mode || made.NetworkDisabled != c.disabled {
			t.Errorf("%s, %+v: %v, %v: %+v", c.by.name, c.wanted, err, unread, made)
		}
	}
}

// TestOnHostNetwork: a container that was made in the machine's own network is there, and nowhere else.
func TestOnHostNetwork(t *testing.T) {
	for mode, want := range map[string]bool{"host": true, "none": false, "bridge": false} {
		inspected := container.InspectResponse{HostConfig: &container.HostConfig{NetworkMode: container.NetworkMode(mode)}}
		if got := onNetwork(inspected, map[string]string{labelNetwork: HostNetwork}); got != want {
			t.Errorf("%s: %t", mode, got)
		}
	}
	var c Container
	if c.label((Wanted{Network: HostNetwork}).labels()); !c.Hosted {
		t.Error("it is not told from others")
	}
}

// TestVacant: who has a port that is to be published is told before anything is made: a chain, another container, a program; and what a chain
// has itself it may have again.
func TestVacant(t *testing.T) {
	const port, theirs = 1, `"Labels": {}, "State": "running"` // which nobody of this machine has at such an address
	of := func(owner, state string) string {
		return fmt.Sprintf(`"Labels": {"nfchain.owner": %q, "nfchain.machine": %q}, "State": %q`, owner, machine(), state)
	}
	at := func(ip, protocol string) string {
		return fmt.Sprintf(`"Ports": [{"IP": %q, "PublicPort": %d, "Type": %q}]`, ip, port, protocol)
	}
	for _, c := range []struct{ network, has, want string }{
		{"there", "", ""},
		{"there", theirs + "," + at("127.88.7.6", "tcp"), "TCP port 1 of 127.88.7.6, at which it is to be published, is taken by container web; publish another, or end that one (docker rm -f web)"},
		{"there", theirs + "," + at("127.88.7.7", "tcp"), ""},
		{"there", theirs + "," + at("0.0.0.0", "udp"), "UDP port 1 of 127.88.7.6, at which"},
		{"there", theirs + "," + at("::", "udp"), ""},
		{"there", of("other", "running") + "," + at("127.88.7.6", "udp"), "is taken by chain other (container web); publish another, or end that one (nfchain down other)"},
		{"there", of("other", "exited"), "TCP port 1 of 127.88.7.6, at which it is to be published, is taken by chain other (container web)"},
		{"there", of("mine", "running") + "," + at("127.88.7.6", "tcp"), ""},
		{"there", of("mine", "paused") + "," + at("127.88.7.6", "tcp"), ""},
		{"there", of("other", "paused") + "," + at("127.88.7.6", "tcp"), "is taken by chain other (container web)"},
		{"own", theirs + "," + at("127.88.7.6", "tcp"), ""},
		{"own", theirs + "," + at("0.0.0.0", "tcp"), "TCP port 1, at which it is to be published, is taken by container web"},
		{"given", theirs + "," + at("127.88.7.6", "tcp"), "TCP port 1 of 127.88.7.6, at which"},
	} {
		list := "[]"
		if c.has != "" {
			list = fmt.Sprintf(`[{"Id": "1", "Names": ["/web"], %s}]`, c.has)
		}
		e := standIn(t, map[string]http.HandlerFunc{
			"/networks/there": func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"Name": "there", "IPAM": {"Config": [{"Subnet": "127.88.7.0/24", "Gateway": "127.88.7.6"}]}}`)
			},
			"/networks/own":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
			"/networks/given":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
			"/containers/json": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, list) },
			"/containers/1/json": func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"Id": "1", "HostConfig": {"PortBindings": {"80/tcp": [{"HostIp": "127.88.7.6", "HostPort": "%d"}]}}}`, port)
			},
		})
		n := Network{Name: c.network}
		if c.network != "there" {
			n.Driver = "bridge"
		}
		if c.network == "given" {
			n.Subnets = []string{"2001:db8::/64", "127.88.7.5/32"} // the address after which it is
		}
		err := e.(Networking).Vacant(t.Context(), Publication{Owner: "mine", Network: n, Ports: "1"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %s: %v, want %q", c.network, c.has, err, c.want)
		}
	}
}

// TestVacantBesidePrograms: a program that has a port at the network's address is told, unless what has it is the chain's own container.
func TestVacantBesidePrograms(t *testing.T) {
	l, err := net.Listen("tcp4", "127.88.7.8:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	port := l.Addr().(*net.TCPAddr).Port
	for own, want := range map[string]string{
		"[]": fmt.Sprintf("TCP port %d of 127.88.7.8, at which it is to be published, is taken by ", port),
		fmt.Sprintf(`[{"Id": "1", "Labels": {"nfchain.owner": "mine", "nfchain.machine": %q}, "State": "running", "Ports": [{"IP": "127.88.7.8", "PublicPort": %d, "Type": "tcp"}, {"IP": "127.88.7.8", "PublicPort": %[2]d, "Type": "udp"}]}]`, machine(), port): "",
	} {
		e := standIn(t, map[string]http.HandlerFunc{
			"/networks/there": func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"Name": "there", "IPAM": {"Config": [{"Subnet": "127.88.7.0/24", "Gateway": "127.88.7.8"}]}}`)
			},
			"/containers/json": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, own) },
		})
		err := e.(Networking).Vacant(t.Context(), Publication{Owner: "mine", Network: Network{Name: "there"}, Ports: api.PortRanges(strconv.Itoa(port))})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid()))) {
			t.Errorf("%s: %v, want %q", own, err, want)
		}
	}
}
