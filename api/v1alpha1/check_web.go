package v1alpha1

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// onlyAsked is the message about a URL of something that no protocol asks.
const onlyAsked = "http asks a URL of http://, and udp_rr one of udp://; leave it out, or add that to the protocols"

// toolOfTransactions is what sends the datagrams of udp_rr to a URL.
const toolOfTransactions = "rr"

// IsEcho tells whether a URL is of an echo of datagrams (RFC 862), and not of a web server.
func IsEcho(url string) bool { return strings.HasPrefix(url, "udp://") }

// Asks tells whether a URL is what a protocol asks: udp_rr an echo of datagrams, and http a web server.
func Asks(url, protocol string) bool {
	if IsEcho(url) {
		return protocol == protocolUDPRR
	}
	return protocol == protocolHTTP
}

// onlyRequests is that of a rate of requests.
const onlyRequests = "only http and latency have it; leave it out, or add one of them to the protocols"

// hasRequests tells whether a protocol may be told how many requests a second there are.
func hasRequests(protocol string) bool {
	return protocol == protocolHTTP || protocol == protocolLatency
}

// checkWeb validates what requests to a web server are like.
func (l Load) checkWeb() []FieldProblem {
	var f findings
	asks := slices.Contains(l.Protocols, protocolHTTP)
	if l.URL != "" && !slices.ContainsFunc(l.Protocols, func(protocol string) bool { return Asks(l.URL, protocol) }) {
		f.add("url", onlyAsked)
	}
	if l.RequestRate != 0 && !slices.ContainsFunc(l.Protocols, hasRequests) {
		f.add("request_rate", onlyRequests)
	}
	if l.URL != "" {
		f.add("url", checkURL(l.URL))
	}
	if IsEcho(l.URL) {
		if l.ResponseSize > 0 && l.ResponseSize != l.RequestSize {
			f.addf("response_size", "what url names gives back what it gets, so that the size is that of the request; leave it out")
		}
		if l.Tool != "" && l.Tool != ToolAuto && l.Tool != toolOfTransactions {
			f.addf("url", "%s asks a server of its own; leave one of them out, or have tool: %s", l.Tool, toolOfTransactions)
		}
	}
	if !asks || len(l.Protocols) > 1 {
		return f
	}
	if l.URL != "" && l.ResponseSize > 0 {
		f.addf("response_size", "url says which object is asked for, and its size is the server's; leave one of them out")
	}
	if l.PayloadSize > 0 {
		f.addf("payload_size", "an object that http asks for has a response_size")
	}
	if l.Rate != (LoadRate{}) {
		f.addf("rate", "http has a request_rate, in requests a second")
	}
	return f
}

// checkURL refuses what is no URL of a web server, or of an echo of datagrams, that can be measured.
func checkURL(text string) string {
	const write = "; write such as http://web:8080/index.html"
	if IsEcho(text) {
		return checkEcho(text)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return quote(text) + " is no URL" + write
	case u.Scheme == "https":
		return "TLS is not measured" + write
	case u.Scheme != "http" || u.Hostname() == "":
		return quote(text) + " is no URL of a web server" + write
	case u.User != nil:
		return "a URL with a user is not asked for" + write
	case u.Fragment != "" || strings.Contains(text, "#"):
		return "what follows # is not sent to a server; leave it out"
	}
	if port := u.Port(); port != "" {
		return checkPort(port)
	}
	return ""
}

// checkEcho refuses what does not say where an echo is, and nothing else.
func checkEcho(text string) string {
	const write = "; write such as udp://echo:7007"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return quote(text) + " is no URL" + write
	case u.Hostname() == "" || u.Port() == "":
		return quote(text) + " does not say where an echo of datagrams is, and at which port" + write
	case *u != (url.URL{Scheme: u.Scheme, Host: u.Host}):
		return quote(text) + " says more than where an echo of datagrams is" + write
	}
	return checkPort(u.Port())
}

func checkPort(port string) string {
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return port + " is no port; write one from 1 to 65535"
	}
	return ""
}
