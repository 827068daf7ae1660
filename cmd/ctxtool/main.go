// Command ctxtool shows what a coding agent's model saw, from the session file
// alone.
package main

import (
	"os"
)

func main() {
	os.Exit(processEnv().run(os.Args[1:]))
}
