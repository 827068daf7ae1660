package render

import (
	"bufio"
	"embed"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"ctxtool/internal/base/table"
	"ctxtool/internal/base/tmpl"
	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
)

// Reports that are sentences are templates: text.tmpl of text, markdown.tmpl of Markdown. What a template prints is
// cleaned, or escaped, unless it is a markup.
//
//go:embed text.tmpl markdown.tmpl
var templateFiles embed.FS

// A markup is text in the form of what is written.
type markup string

// aside is an action that is alone on its line. That line is none of the text.
var aside = regexp.MustCompile(`(?m)^[ \t]*(\{\{(?:if|else|end|range|with|define|template)[^{}]*\}\})\n`)

var templates = sync.OnceValue(func() tmpl.Templates {
	all := tmpl.Templates{Functions: functions(Screen{})}
	for _, name := range []string{"text.tmpl", "markdown.tmpl"} {
		text, err := templateFiles.ReadFile(name)
		if err == nil {
			err = all.Parse(name, aside.ReplaceAllString(string(text), "$1"))
		}
		if err != nil {
			panic(err) // it is in the binary
		}
	}
	return all
})

// functions are those of templates.
func functions(on Screen) map[string]any {
	all := map[string]any{
		"cut":   func(width int, text string) string { return fit(text, width) },
		"join":  func(all []string) string { return strings.Join(all, ", ") },
		"lines": linesOf,
		"paint": func(as style, text string) markup { return markup(on.paint(as, sessionfmt.Clean(text))) },
		"put": func(parts ...any) markup {
			return markup(fit(strings.TrimRight(cleaned(parts...), " "), lineWidth(on.Width)))
		},
		"share": func(n, of int64) string { return phrase.Percent(float64(n) / float64(of)) },
		"table": func(t table.Table) markup {
			var text strings.Builder
			WriteTable(&text, t, on)
			return markup(strings.TrimSuffix(text.String(), "\n"))
		},
		"trim":  func(text string) string { return strings.TrimRight(text, " ") },
		"count": phrase.Count, "short": phrase.Short, "percent": phrase.Percent, "window": phrase.WindowFrom,
		"quote": sessionfmt.Quote, "or_dash": orDash, "id": entryID, "printf": fmt.Sprintf,
	}
	maps.Copy(all, planFunctions)
	return all
}

// linesOf returns the lines of a text.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// cleaned returns values as text.
func cleaned(values ...any) string {
	var all strings.Builder
	for _, v := range values {
		if text, ok := v.(markup); ok {
			all.WriteString(string(text))
		} else {
			all.WriteString(sessionfmt.Clean(fmt.Sprint(v)))
		}
	}
	return all.String()
}

// fill writes what a template makes of a value.
func fill(w *bufio.Writer, name string, v any, on Screen) {
	all := templates()
	all.Functions, all.Print = functions(on), func(v any) string { return cleaned(v) }
	var text strings.Builder
	if err := all.Execute(&text, name, v); err != nil {
		panic(err) // it is in the binary
	}
	w.WriteString(text.String())
}

// filled returns a writer of what a template makes of a value.
func filled[T any](form, name string) writer {
	return text(form, func(w *bufio.Writer, v T, on Screen) { fill(w, name, v, on) })
}
