package link

import (
	"crypto/sha256"
	"net"
)

// MAC of an interface: locally administered, unicast, and the same for the same words.
func MAC(words ...string) string {
	h := sha256.New()
	for _, w := range append([]string{"mac"}, words...) {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	b := h.Sum(nil)
	b[0] = 0x02
	return net.HardwareAddr(b[:6]).String()
}
