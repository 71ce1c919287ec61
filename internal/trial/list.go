package trial

import "encoding/json"

// List is a slice whose JSON is [] where it is empty, never null. It is
// assignable to and from []T.
type List[T any] []T

// MarshalJSON writes the elements; its errors are theirs.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// Map is a map by name whose JSON is {} where it is empty, never null. It is
// assignable to and from map[string]V.
type Map[V any] map[string]V

// MarshalJSON writes the values by name; its errors are theirs.
func (m Map[V]) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]V(m))
}
