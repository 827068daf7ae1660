//go:build poison

package scratch

// Poisoned reports whether buffers are poisoned: the build has the tag poison.
const Poisoned = true
