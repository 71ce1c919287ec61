package steer

// SharesOf is for tests of the shares alone.
var SharesOf = sharesOf
