package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ctxtool/render"
	"ctxtool/sessionfmt"
)

// colorNames are what --color may be.
var colorNames = []string{"auto", "always", "never"}

// colorFlag gives all commands the flag that says when answers for people are coloured.
func (e *env) colorFlag(root *cobra.Command) {
	root.PersistentFlags().StringVar(&e.color, "color", "auto", "`WHEN` answers for people are coloured: "+strings.Join(colorNames, ", "))
	complete(root, "color", colorNames)
}

func (e *env) checkColor() error {
	if !slices.Contains(colorNames, e.color) {
		return fmt.Errorf("unknown --color %q: one of %s", sessionfmt.Quote(e.color), strings.Join(colorNames, ", "))
	}
	return nil
}

// style is how an answer for people that goes to output stands out: coloured where
// that was asked for, or on a terminal unless NO_COLOR is set to something
// (https://no-color.org) or the terminal is a dumb one.
func (e *env) style(output string) render.Style {
	if e.color != "auto" {
		return render.Style{Colour: e.color == "always"}
	}
	f, ok := e.stdout.(*os.File)
	plain := e.getenv("NO_COLOR") != "" || e.getenv("TERM") == "dumb"
	return render.Style{Colour: ok && !plain && (output == "" || output == "-") && term.IsTerminal(int(f.Fd()))}
}
