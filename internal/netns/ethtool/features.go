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
