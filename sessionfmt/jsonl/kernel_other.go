//go:build !amd64 || purego

package jsonl

// There is no vector kernel for this machine, or the build tag purego leaves it out: see
// kernel_amd64.go.
const hasKernel = false

func stringKernel(p *byte, n int) (at, extra int, wide uint64) { return 0, 0, 0 }
