// Command testdata is a program that is linked dynamically where C is there to link to.
package main

import "net"

func main() { _, _ = net.LookupHost("localhost") }
