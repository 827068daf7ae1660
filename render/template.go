package render

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"ctxtool/internal/base/table"
	"ctxtool/internal/base/tmpl"
	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Reports that are sentences are templates: text.tmpl of text, markdown.tmpl of Markdown, page.tmpl of pages. What a
// template prints is cleaned, or escaped, unless it is a markup.
//
//go:embed text.tmpl markdown.tmpl page.tmpl
var templateFiles embed.FS

// A markup is text in the form of what is written.
type markup string

var templates = sync.OnceValues(func() (all tmpl.Templates, err error) {
	// An action that is alone on its line: that line is none of the text.
	aside := regexp.MustCompile(`(?m)^[ \t]*(\{\{(?:if|else|end|range|with|define|template)[^{}]*\}\})\n`)
	all.Functions = functions(Screen{})
	for _, name := range []string{"text.tmpl", "markdown.tmpl", "page.tmpl"} {
		text, err := templateFiles.ReadFile(name)
		if err == nil {
			err = all.Parse(name, aside.ReplaceAllString(string(text), "$1"))
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
})

// functions are those of templates.
func functions(on Screen) map[string]any {
	all := map[string]any{
		"print": func(parts ...any) markup { return markup(cleaned(parts...)) },
		"put": func(parts ...any) markup {
			return markup(fit(strings.TrimRight(cleaned(parts...), " "), lineWidth(on.Width)))
		},
		"table": func(t table.Table) markup {
			var text strings.Builder
			WriteTable(&text, t, on)
			return markup(strings.TrimSuffix(text.String(), "\n"))
		},
		"kind":  func(kind string) markup { return markup(on.paint(kindStyle(kind), sessionfmt.Clean(kind))) },
		"join":  func(all []string) string { return strings.Join(all, ", ") },
		"trim":  func(text string) string { return strings.TrimRight(text, " ") },
		"len":   func(list any) int { return reflect.ValueOf(list).Len() },
		"minus": func(a, b int) int { return a - b },
		"plus":  func(a, b int) int { return a + b },
		"after": strings.TrimPrefix,
		"share": func(n, of int64) string { return phrase.Percent(float64(n) / float64(of)) },
		"code":  func(text string) markup { return markup(literal(text)) },
		"text": func(v jsonl.Value, path ...string) string {
			if v = below(v, path); v.Truthy() {
				return v.Text()
			}
			return ""
		},
		"json":  func(v jsonl.Value, path ...string) string { return string(below(v, path).AppendMinified(nil)) },
		"lines": linesOf, "printf": fmt.Sprintf, "count": phrase.Count, "window": phrase.WindowFrom,
		"quote": sessionfmt.Quote, "or_dash": orDash, "id": entryID, "times": times, "day": dayAndMinute,
		"utf8": jsonl.UTF8, "indented": indentOptions, "ops": opNames,
	}
	for name, as := range map[string]style{
		"bold": heading, "faint": faint, "added": added, "removed": removed, "changed": changed, "failure": failure,
		"warning": warning,
	} {
		all[name] = func(text any) markup { return markup(on.paint(as, cleaned(text))) }
	}
	for _, some := range []map[string]any{planFunctions, searchFunctions, costFunctions, gateFunctions, diffFunctions} {
		maps.Copy(all, some)
	}
	return all
}

// linesOf returns the lines of a text.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// below returns a field of a field.
func below(v jsonl.Value, path []string) jsonl.Value {
	for _, name := range path {
		v = v.Get(name)
	}
	return v
}

// asItIs returns a value as text, with whatever is in it.
func asItIs(v any) string { return fmt.Sprint(v) }

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

// escaped returns a value as Markdown.
func escaped(v any) string {
	if text, ok := v.(markup); ok {
		return string(text)
	}
	return inline(fmt.Sprint(v))
}

// fill writes what a template makes of a value.
func fill(w *bufio.Writer, name string, v any, on Screen) error {
	return execute(w, name, v, on, func(v any) string { return cleaned(v) })
}

// fillMarkdown writes what a template of Markdown makes of a value.
func fillMarkdown(w *bufio.Writer, name string, v any) error {
	return execute(w, name, v, Screen{}, escaped)
}

// sentences returns the lines that a template makes of a value, as they are before they are cleaned or escaped.
func sentences(name string, v any) []string {
	var text strings.Builder
	if err := execute(&text, name, v, Screen{}, func(v any) string { return fmt.Sprint(v) }); err != nil {
		return []string{err.Error()}
	}
	return linesOf(text.String())
}

func execute(w io.StringWriter, name string, v any, on Screen, print func(v any) string) error {
	all, err := templates()
	if err != nil {
		return err
	}
	all.Functions, all.Print = functions(on), print
	var text strings.Builder
	if err := all.Execute(&text, name, v); err != nil {
		return err
	}
	_, err = w.WriteString(text.String())
	return err
}
