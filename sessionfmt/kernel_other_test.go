//go:build !amd64 || purego

package sessionfmt

func withoutKernel(f func()) { f() }
