package run

// Proven is proven, for tests.
var Proven = proven
