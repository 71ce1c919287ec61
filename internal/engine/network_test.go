package engine

import (
	"io"
	"net/http"
	"strings"
	"testing"
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
