package deploy

// PlacesOf a forwarder's ports on the ways that lead by them, by which they are turned.
var PlacesOf = placesOf
