package tuning

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/netns/ethtool"
)

// offloads by the kernel's names of them (net/ethtool/common.c). Checksums and
// scatter-gather come first, because segmentation rests on them.
var offloads = []knob{
	offload("checksum", "cs", "tx", "tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6", "tx-checksum-sctp"),
	offload("scatter_gather", "sg", "sg", "tx-scatter-gather", "tx-scatter-gather-fraglist"),
	offload("tso", "ts", "tso", "tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation",
		"tx-tcp6-segmentation", "tx-tcp-accecn-segmentation"),
	offload("gso", "gs", "gso", "tx-generic-segmentation"),
	offload("gro", "gr", "gro", "rx-gro"),
	offload("udp_gro_forwarding", "uf", "rx-udp-gro-forwarding", "rx-udp-gro-forwarding"),
}

// The values of a knob that is on or off.
const (
	on  = "true"
	off = "false"
)

func offload(name, code, tool string, features ...string) knob {
	return knob{
		name: name, code: code, command: switchCommand(tool),
		read: func(at *port) (string, error) {
			meant, err := at.features(features)
			if err != nil {
				return "", err
			}
			return state(meant)
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

// state of features that are switched together: those that can be changed, or all
// where none can.
func state(meant []ethtool.Feature) (string, error) {
	ons, offs, fixedOn := 0, 0, false
	for _, f := range meant {
		switch {
		case f.Fixed:
			fixedOn = fixedOn || f.On
		case f.On:
			ons++
		default:
			offs++
		}
	}
	switch {
	case ons+offs == 0:
		return strconv.FormatBool(fixedOn), nil
	case offs == 0:
		return on, nil
	case ons == 0 && !fixedOn:
		return off, nil
	}
	return "partly", nil
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
