package run

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trial"
)

// portOfHTTP is where web servers listen of whose port a URL says nothing.
const portOfHTTP = 80

// site is where the URL of a condition leads from the chain's first end: to an address, to the second
// end, where that is reached at end, or to a function; zero without a URL.
func site(p *plan.Plan, c trial.Condition, end netip.Addr) (netip.AddrPort, error) {
	if c.URL == "" {
		return netip.AddrPort{}, nil
	}
	host, port, err := hostOf(c.URL)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(a, port), nil
	}
	if p.Server().Has(host) {
		return netip.AddrPortFrom(end, port), nil
	}
	for _, h := range p.Hosts(p.Client().Name) {
		if h.Name == host {
			return netip.AddrPortFrom(h.Address, port), nil
		}
	}
	return netip.AddrPort{}, fmt.Errorf("url: %s has no address that %s reaches it at", host, p.Client().Name)
}

// mayAsk refuses a URL that leads to nobody in a chain, or past the path that is measured.
func mayAsk(chain api.Chain, c trial.Condition) error {
	if c.URL == "" {
		return nil
	}
	host, _, err := hostOf(c.URL)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrInput)
	}
	end := chain.Spec.Endpoints[1].Name
	if _, err := netip.ParseAddr(host); err == nil {
		if c.Path == trial.PathDirect {
			return fmt.Errorf("url: %s is an address, to which the path without functions does not lead; leave the direct path out (--direct=false), or write %s for the second end: %w",
				host, end, ErrInput)
		}
		return nil
	}
	names := []string{}
	for _, f := range chain.Spec.Functions {
		if f.Name == host && c.Path == trial.PathDirect {
			return fmt.Errorf("url: %s is a function, to which the path without functions does not lead; leave the direct path out (--direct=false), or serve at %s: %w",
				host, end, ErrInput)
		}
		if f.Name == host {
			return nil
		}
		names = append(names, f.Name)
	}
	if host == end {
		return nil
	}
	names = append(names, end)
	return fmt.Errorf("url: there is no %q behind the first end; write one of %s, or an address: %w", host, strings.Join(names, ", "), ErrInput)
}

// hostOf a URL, and the port.
func hostOf(text string) (host string, port uint16, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", 0, fmt.Errorf("url: %w", err)
	}
	n, err := strconv.ParseUint(cmp.Or(u.Port(), strconv.Itoa(portOfHTTP)), 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("url: port: %w", err)
	}
	return u.Hostname(), uint16(n), nil
}
