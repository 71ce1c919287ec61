package bridge

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// Kind makes bridges.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	bridges, err := mine(p)
	if err != nil || len(bridges) == 0 {
		return nil, err
	}
	on, err := filtered(p)
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, b := range bridges {
		found = append(found, resource.Observed{Key: b.name, Fingerprint: b.fingerprint(on)})
	}
	return found, nil
}

// mine are the owner's bridges.
func mine(p resource.Place) ([]seen, error) {
	bridges, _, err := look(p)
	if err != nil {
		return nil, fmt.Errorf("list bridges of namespace %q: %w", p.Ref, err)
	}
	var own []seen
	for _, b := range bridges {
		if strings.HasPrefix(b.alias, resource.Mark(p.Owner)+aliasSign) {
			own = append(own, b)
		}
	}
	return own, nil
}

// Apply implements resource.Kind. One that is there is changed and keeps its ports.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	if err := unfilter(p); err != nil {
		return fmt.Errorf("keep the packet filter of namespace %q from what bridges pass on: %w", p.Ref, err)
	}
	return resource.Make(changes, func(name string) error { return remove(p, name) }, func(s Spec) error { return set(p, s) })
}

func remove(p resource.Place, name string) error {
	l, err := p.LinkByName(name)
	if err != nil {
		return ifThere(err)
	}
	if err := p.LinkDel(l); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove bridge %s of namespace %q: %w", name, p.Ref, err)
	}
	return nil
}

// set makes the bridge, or takes the one that is there, and sets it. One without a mark
// is what a killed process left between making and marking.
func set(p resource.Place, s Spec) error {
	l, err := p.LinkByName(s.Device)
	if ifThere(err) != nil {
		return err
	}
	if err == nil && (l.Type() != KindName || l.Attrs().Alias != "" && !resource.Owned(l.Attrs().Alias, s.Owner)) {
		return fmt.Errorf("interface %s already exists in namespace %q and is not this chain's; remove or rename it", s.Device, p.Ref)
	}
	if err == nil {
		err = request(p, s, l.Attrs().Index, 0)
	} else {
		err = request(p, s, 0, unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	}
	if err != nil {
		return fmt.Errorf("make bridge %s of namespace %q: %w", s.Device, p.Ref, err)
	}
	return finish(p, s)
}

// ifThere forgives that an interface was not found.
func ifThere(err error) error {
	var gone netlink.LinkNotFoundError
	if errors.As(err, &gone) {
		return nil
	}
	return err
}

// request makes a bridge or changes the one with that index.
func request(p resource.Place, s Spec, index, flags int) error {
	mac, err := net.ParseMAC(s.MAC)
	if err != nil {
		return err
	}
	r, err := p.Request(unix.RTM_NEWLINK, unix.NLM_F_ACK|flags)
	if err != nil {
		return err
	}
	about := nl.NewIfInfomsg(unix.AF_UNSPEC)
	about.Index = int32(index)
	r.AddData(about)
	if index == 0 { // Linux before 6.2 takes no name for one that is up, not even its own
		r.AddData(nl.NewRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated(s.Device)))
	}
	r.AddData(nl.NewRtAttr(unix.IFLA_ADDRESS, mac))
	info := nl.NewRtAttr(unix.IFLA_LINKINFO, nil)
	info.AddRtAttr(nl.IFLA_INFO_KIND, nl.NonZeroTerminated(KindName))
	data := info.AddRtAttr(nl.IFLA_INFO_DATA, nil)
	data.AddRtAttr(unix.IFLA_BR_FORWARD_DELAY, nl.Uint32Attr(delayS*hertz))
	data.AddRtAttr(unix.IFLA_BR_AGEING_TIME, nl.Uint32Attr(uint32(s.AgeingS)*hertz))
	data.AddRtAttr(unix.IFLA_BR_STP_STATE, nl.Uint32Attr(flag(s.STP)))
	data.AddRtAttr(unix.IFLA_BR_MCAST_SNOOPING, nl.Uint8Attr(uint8(flag(s.Snooping))))
	r.AddData(info)
	_, err = r.Execute(unix.NETLINK_ROUTE, 0)
	return err
}

func flag(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// finish sets what a request does not, marks the bridge and raises it. An MTU that was
// set stays; the one that a bridge is made with follows its ports'.
func finish(p resource.Place, s Spec) error {
	l, err := p.LinkByName(s.Device)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return p.LinkSetAlias(l, s.alias()) },
		func() error { return p.LinkSetMTU(l, s.MTU) },
		func() error { return p.LinkSetUp(l) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("set bridge %s of namespace %q: %w", s.Device, p.Ref, err)
		}
	}
	return nil
}
