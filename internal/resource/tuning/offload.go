package tuning

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/netns/ethtool"
)

// offloads by the kernel's names of them (net/ethtool/common.c). Checksums and
// scatter-gather come first, because segmentation rests on them. With an offload come those
// that only refine it and mean nothing alone.
var offloads = []knob{
	offload("checksum", "cs", "tx", []string{"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6"}, "tx-checksum-sctp"),
	offload("scatter_gather", "sg", "sg", []string{"tx-scatter-gather"}, "tx-scatter-gather-fraglist"),
	offload("tso", "ts", "tso", []string{"tx-tcp-segmentation", "tx-tcp6-segmentation"},
		"tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp-accecn-segmentation"),
	offload("gso", "gs", "gso", []string{"tx-generic-segmentation"}),
	offload(VLAN, "vl", "txvlan", []string{"tx-vlan-hw-insert"}, "tx-vlan-stag-hw-insert"),
	offload("gro", "gr", "gro", []string{"rx-gro"}),
	offload("udp_gro_forwarding", "uf", "rx-udp-gro-forwarding", []string{"rx-udp-gro-forwarding"}),
}

// VLAN is the knob of tags that a device puts in by itself. No field of a file has its name: the
// plan has tags in the frames where headers come before these.
const VLAN = "vlan"

// The values of a knob that is on or off.
const (
	on  = "true"
	off = "false"
)

// partly is the value of an offload of which one main feature is on and another off.
const partly = "partly"

func offload(name, code, tool string, main []string, finer ...string) knob {
	features := append(finer, main...)
	return knob{
		name: name, code: code, command: switchCommand(tool),
		read: func(at *port) (string, error) {
			meant, err := at.features(features)
			if err != nil {
				return "", err
			}
			return state(meant, main), nil
		},
		write: func(at *port, value string) error {
			meant, err := at.features(features)
			if err != nil {
				return err
			}
			wanted, err := strconv.ParseBool(value)
			if err != nil {
				return fmt.Errorf("%q is neither %s nor %s", value, on, off)
			}
			return at.setFeatures(meant, wanted)
		},
		hint: "the driver cannot, or an offload that this one rests on is off; `ethtool -k` marks as fixed what cannot be changed",
	}
}

// features of the interface that are among those named.
func (at *port) features(names []string) ([]ethtool.Feature, error) {
	s, err := at.driver()
	if err != nil {
		return nil, err
	}
	all, err := s.Features(at.device())
	meant := slices.DeleteFunc(all, func(f ethtool.Feature) bool { return !slices.Contains(names, f.Name) })
	if err == nil && len(meant) == 0 {
		return nil, fmt.Errorf("this kernel knows none of %s", strings.Join(names, ", "))
	}
	return meant, err
}

// state of features that are switched together, by the main ones: on where all are that
// can be changed, or one is that never changes.
func state(meant []ethtool.Feature, main []string) string {
	ons, offs := 0, 0
	for _, f := range meant {
		switch {
		case !slices.Contains(main, f.Name):
		case f.On:
			ons++
		case !f.Fixed:
			offs++
		}
	}
	switch {
	case ons == 0:
		return off
	case offs == 0:
		return on
	}
	return partly
}

func (at *port) setFeatures(meant []ethtool.Feature, wanted bool) error {
	values := map[string]bool{}
	for _, f := range meant {
		if !f.Fixed {
			values[f.Name] = wanted
		}
	}
	s, err := at.driver()
	if err != nil {
		return err
	}
	return s.SetFeatures(at.device(), values)
}
