package v1alpha1

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// onlyHTTP is the message about what is for nothing else.
const onlyHTTP = "only http has it; leave it out, or add http to the protocols"

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
	if !asks && l.URL != "" {
		f.add("url", onlyHTTP)
	}
	if l.RequestRate != 0 && !slices.ContainsFunc(l.Protocols, hasRequests) {
		f.add("request_rate", onlyRequests)
	}
	if l.URL != "" {
		f.add("url", checkURL(l.URL))
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

// checkURL refuses what is no URL of a web server that can be measured.
func checkURL(text string) string {
	const write = "; write such as http://web:8080/index.html"
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
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return port + " is no port; write one from 1 to 65535"
		}
	}
	return ""
}
