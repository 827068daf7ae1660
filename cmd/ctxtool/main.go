// Command ctxtool shows what a coding agent's model saw, from the session file
// alone.
package main

import (
	"os"
	"runtime/debug"
)

func main() {
	debug.SetTraceback("none") // who has no memory left is told so; GOTRACEBACK=all has the rest
	os.Exit(processEnv().run(os.Args[1:]))
}
