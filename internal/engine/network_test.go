package engine

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
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
