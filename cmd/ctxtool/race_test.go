//go:build race

package main

// raced says that the race detector watches, which makes tests ten times as long.
const raced = true
