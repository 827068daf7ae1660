//go:build !amd64 || purego

package jsonl

// This machine has no vector kernel, or the build tag purego disables it; see kernel_amd64.go.
const hasKernel = false

func stringKernel(p *byte, n int) (at, extra int, wide uint64) { return 0, 0, 0 }

func pairKernel(text *byte, n int, p Pair) (at int) { return 0 }

func setKernel(text *byte, n int, in, plain *nibbles) (at int) { return 0 }
