package rr

import (
	"net/netip"
	"time"
)

// settings are a trial as both sides' command lines carry it.
type settings struct {
	Protocol string `json:"protocol"`
	// Address of the server and the first of as many ports as there are flows; or of an echo of somebody's, which all flows go to.
	Address netip.AddrPort `json:"address"`
	Echo    bool           `json:"echo,omitempty"`
	Flows   int            `json:"flows"`
	// Request and Response are sizes in bytes, 1 or more.
	Request  int           `json:"request_size"`
	Response int           `json:"response_size"`
	Duration time.Duration `json:"duration_ns"`
	// Cores that the flows' threads are bound to in turn; none leaves them free.
	Cores []int `json:"cores,omitempty"`
	// Busy asks for what came again and again instead of sleeping until it comes.
	Busy bool `json:"busy_loop,omitempty"`
}

// port of a flow at the server.
func (s settings) port(flow int) netip.AddrPort {
	if s.Echo {
		return s.Address
	}
	return netip.AddrPortFrom(s.Address.Addr(), s.Address.Port()+uint16(flow))
}
