package html

// Spelled is what packed bits are spelled as.
func Spelled(bits []byte) []byte { return spell7(nil, bits) }
