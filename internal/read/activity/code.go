package activity

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// Modifiers before the words that define names, and these words; names that words in callables
// define are called.
var (
	modifiers = strings.Fields("export default async abstract declare pub public private protected static final " +
		"sealed data open")
	callables = strings.Fields("func function def fn fun")
	defining  = append(strings.Fields("class type interface struct enum trait record object"), callables...)
)

// shortestDefined is the minimum length of a name, bytes: shorter ones match texts by chance.
const shortestDefined = 4

// Definitions returns the names that code defines at the beginning of a line, in the form in which
// texts refer to them: with () if they are called.
func Definitions(code string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(code) {
			words := strings.Fields(line[:min(len(line), 200)])
			if line[0] == ' ' || line[0] == '\t' {
				continue
			}
			for len(words) > 0 && slices.Contains(modifiers, words[0]) {
				words = words[1:]
			}
			if len(words) < 2 || !slices.Contains(defining, words[0]) {
				continue
			}
			rest := strings.Join(words[1:], " ")
			if _, after, ok := strings.Cut(rest, ") "); ok && rest[0] == '(' { // the receiver of a method
				rest = after
			}
			end := strings.IndexFunc(rest, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
					r != '_' && r != '$'
			})
			if end < 0 {
				end = len(rest)
			}
			if end < shortestDefined {
				continue
			}
			name := rest[:end]
			if slices.Contains(callables, words[0]) {
				name += "()"
			}
			if !yield(name) {
				return
			}
		}
	}
}

// References returns the places in code that a text names: FILE:LINE, FILE:LINE-LINE and
// FILE:NAME().
func References(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if strings.IndexByte(text, ':') < 0 {
			return
		}
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return unicode.IsSpace(r) ||
				strings.ContainsRune("`'\"*,;[]{}<>|", r)
		}) {
			if w = strings.TrimRight(strings.TrimLeft(w, "("), ".:"); strings.Count(w, "(") < strings.Count(w, ")") {
				w = strings.TrimSuffix(w, ")")
			}
			file, at, ok := strings.Cut(w, ":")
			if ok && isFile(file) && isPlaceIn(at) && !yield(w) {
				return
			}
		}
	}
}

// isFile reports whether a word is the path of a file: it ends with a dot and a few letters.
func isFile(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	ending := w[dot+1:]
	return dot > 0 && len(ending) > 0 && len(ending) <= 5 && strings.Trim(ending, "abcdefghijklmnopqrstuvwxyz") == "" &&
		!strings.ContainsAny(w, "()=\\") && !strings.Contains(w, "//")
}

// isPlaceIn reports whether a word names lines of a file, or a function in it.
func isPlaceIn(w string) bool {
	if name, ok := strings.CutSuffix(w, "()"); ok {
		return len(name) >= shortestDefined && !strings.ContainsAny(name, "():/")
	}
	return w != "" && strings.Trim(w, "0123456789-") == "" && w[0] != '-' && w[0] != '0'
}

// Manifest reports whether a file of that name lists what a project depends on, as
// Dependencies reads it.
func Manifest(base string) bool { return manifests[base] != nil }

var manifests = map[string]func(line string, inside *bool) string{
	"go.mod":           goRequired,
	"package.json":     npmRequired,
	"requirements.txt": pipRequired,
	"Cargo.toml":       cargoRequired,
}

// Dependencies returns the direct dependencies that the text of a manifest declares.
func Dependencies(base, text string) (all []string) {
	inside := false
	for line := range strings.Lines(text) {
		if name := manifests[base](strings.TrimSpace(line), &inside); name != "" {
			all = append(all, name)
		}
	}
	return all
}

func goRequired(line string, inside *bool) string {
	if one, ok := strings.CutPrefix(line, "require "); ok && one != "(" {
		line = one
	} else if !*inside || line == ")" {
		*inside = line == "require ("
		return ""
	}
	module, version, ok := strings.Cut(line, " ")
	if !ok || !strings.HasPrefix(version, "v") || strings.HasSuffix(version, "// indirect") {
		return ""
	}
	return module
}

func npmRequired(line string, inside *bool) string {
	if strings.HasSuffix(line, "{") || strings.HasPrefix(line, "}") {
		*inside = strings.HasPrefix(line, `"dependencies"`) || strings.HasPrefix(line, `"devDependencies"`) ||
			strings.HasPrefix(line, `"peerDependencies"`)
		return ""
	}
	name, version, ok := strings.Cut(strings.TrimPrefix(line, `"`), `": "`)
	if !*inside || !ok || version == "" {
		return ""
	}
	return name
}

func pipRequired(line string, _ *bool) string {
	if line == "" || strings.IndexByte("#-[(", line[0]) >= 0 {
		return ""
	}
	name, _, _ := strings.Cut(line, ";")
	end := strings.IndexAny(name, "=<>~![ @")
	if end < 0 {
		end = len(name)
	}
	return name[:end]
}

func cargoRequired(line string, inside *bool) string {
	if strings.HasPrefix(line, "[") {
		*inside = strings.HasSuffix(line, "dependencies]")
		return ""
	}
	name, _, ok := strings.Cut(line, " =")
	if !*inside || !ok || strings.HasPrefix(line, "#") {
		return ""
	}
	return name
}
