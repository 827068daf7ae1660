//go:build !amd64 || purego

package jsonl

func withoutKernel(f func()) { f() }
