// Command ctxtool shows what a coding agent's model saw, from the session file
// alone.
package main

import (
	"os"
	"runtime/debug"
)

func main() {
	// What a run keeps is an index that only grows: collecting it often costs
	// little, and halves the memory of a session of a gigabyte.
	debug.SetGCPercent(25)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
