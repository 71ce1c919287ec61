package ethtool

// Feature is one offload of an interface.
type Feature struct {
	// Name is the kernel's (net/ethtool/common.c), such as "tx-udp-segmentation".
	Name string
	On   bool
	// Fixed cannot be changed.
	Fixed bool
}

// blockSize is the bytes of struct ethtool_get_features_block: which features can
// be changed, are wanted, are on, and can never be changed, 32 of them.
const blockSize = 16

// Features are an interface's offloads in the kernel's order, as they are now.
func (s *Socket) Features(device string) ([]Feature, error) {
	if s.features == nil {
		names, err := s.names(device, setFeatures)
		if err != nil {
			return nil, err
		}
		s.features = names
	}
	blocks := (len(s.features) + 31) / 32
	b := make([]byte, 8+blockSize*blocks)
	native.PutUint32(b, cmdFeatures)
	native.PutUint32(b[4:], uint32(blocks))
	if err := s.ask(device, b); err != nil {
		return nil, err
	}
	return parseFeatures(s.features, b[8:]), nil
}

func parseFeatures(names []string, blocks []byte) (all []Feature) {
	for i, name := range names {
		block := blocks[i/32*blockSize:]
		has := func(word int) bool { return native.Uint32(block[4*word:])&(1<<(i%32)) != 0 }
		if name != "" {
			all = append(all, Feature{Name: name, On: has(2), Fixed: !has(0) || has(3)})
		}
	}
	return all
}

// cmdSetFeatures is ETHTOOL_SFEATURES of linux/ethtool.h.
const cmdSetFeatures = 0x3b

// SetFeatures switches offloads on or off, by the kernel's names. It does not fail
// where the driver or another offload does not allow it: read them back.
func (s *Socket) SetFeatures(device string, on map[string]bool) error {
	if _, err := s.Features(device); err != nil { // which asks for the names
		return err
	}
	blocks := (len(s.features) + 31) / 32
	b := make([]byte, 8+8*blocks) // struct ethtool_set_features_block: which, and how
	native.PutUint32(b, cmdSetFeatures)
	native.PutUint32(b[4:], uint32(blocks))
	for i, name := range s.features {
		wanted, meant := on[name]
		if !meant {
			continue
		}
		block := b[8+8*(i/32):]
		native.PutUint32(block, native.Uint32(block)|1<<(i%32))
		if wanted {
			native.PutUint32(block[4:], native.Uint32(block[4:])|1<<(i%32))
		}
	}
	return s.ask(device, b)
}
