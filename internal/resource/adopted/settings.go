package adopted

import (
	"os"
	"path/filepath"
	"strings"
)

// where the settings of one interface are, by address family.
var confs = []string{"ipv4/conf", "ipv6/conf", "ipv4/neigh", "ipv6/neigh"}

const procNet = "/proc/sys/net"

// settings reads everything that is set for an interface of the host.
func settings(name string) map[string]string {
	all := map[string]string{}
	for _, conf := range confs {
		entries, err := os.ReadDir(filepath.Join(procNet, conf, name))
		if err != nil {
			continue // this kernel has no such family
		}
		for _, e := range entries {
			key := filepath.Join(conf, name, e.Name())
			if value, err := os.ReadFile(filepath.Join(procNet, key)); err == nil {
				all[key] = strings.TrimSpace(string(value))
			}
		}
	}
	return all
}

// putSettings writes back what differs. What the kernel does not let be written it
// keeps itself (counters, random secrets), so refusals mean nothing.
func putSettings(r record) {
	now := settings(r.Interface)
	for key, was := range r.Settings {
		if now[key] != was {
			_ = os.WriteFile(filepath.Join(procNet, key), []byte(was), 0)
		}
	}
}
