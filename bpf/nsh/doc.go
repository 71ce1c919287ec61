// Package nsh is the pair of programs that give frames a Network Service Header (RFC 8300) on
// their way into a function, and take it off on their way out.
package nsh
