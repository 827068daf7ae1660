package stats

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// TestFormatsNamed holds docs/formats.md to the structs that are printed: the section
// of a lens names each of its keys, and what stands above them those of a report.
func TestFormatsNamed(t *testing.T) {
	sections := formatSections(t)
	want := map[string]reflect.Type{"": reflect.TypeFor[Report]()}
	all := reflect.TypeFor[Parts]()
	for i := range all.NumField() {
		name, _, _ := strings.Cut(all.Field(i).Tag.Get("json"), ",")
		want["Lens `"+name+"`"] = all.Field(i).Type
	}
	for section, of := range want {
		named, ok := sections[section]
		if !ok {
			t.Errorf("docs/formats.md has no section %q of ctxtool/stats/3", section)
			continue
		}
		keys := map[string]bool{}
		jsonKeys(of, keys)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if !slices.Contains(named, key) {
				t.Errorf("section %q of docs/formats.md does not name the key %s", section, key)
			}
		}
	}
	for _, l := range Lenses {
		if !slices.Contains(sections["Other forms"], l.Name) {
			t.Errorf("docs/formats.md does not say what -f csv has of the lens %s", l.Name)
		}
		for _, c := range l.sheets(&Report{})[0].Columns {
			if !strings.Contains(sections["Other forms"][0], "`"+c.Name+"`") {
				t.Errorf("docs/formats.md does not name the column %q of the lens %s", c.Name, l.Name)
			}
		}
	}
}

// formatSections returns the words in code of each section below ctxtool/stats/3 and of the sections that it
// links, the first of them the whole text. Those of one session belong to the head.
func formatSections(t *testing.T) map[string][]string {
	data := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "docs", "formats.md")))
	_, text, ok := strings.Cut(string(data), "\n## `ctxtool/stats/3`")
	if !ok {
		t.Fatal("docs/formats.md has no ctxtool/stats/3")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	linked := map[string][]string{} // by anchor
	for _, m := range headed.FindAllStringSubmatch(string(data), -1) {
		anchor := strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(m[1], "`", "")), " ", "-")
		linked[anchor] = codeWords(m[2])
	}
	sections, title := map[string][]string{}, ""
	for i, section := range strings.Split(text, "\n### ") {
		if i > 0 && !strings.HasPrefix(section, "`"+SessionSchema+"`") {
			title, section, _ = strings.Cut(section, "\n")
		}
		sections[title] = append(sections[title], section)
		sections[title] = append(sections[title], codeWords(section)...)
		for _, m := range link.FindAllStringSubmatch(section, -1) {
			sections[title] = append(sections[title], linked[m[1]]...)
		}
	}
	return sections
}

var (
	headed   = regexp.MustCompile(`(?m)^#+ (.*)\n((?:[^#\n].*\n|\n)*)`)
	link     = regexp.MustCompile(`\]\(#([^)]*)\)`)
	codeSpan = regexp.MustCompile("`[^`\n]+`")
	codeWord = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_-]*`)
)

// codeWords returns the words in code spans of a text.
func codeWords(text string) (words []string) {
	for _, span := range codeSpan.FindAllString(text, -1) {
		words = append(words, codeWord.FindAllString(span, -1)...)
	}
	return words
}

// jsonKeys are the keys under which a type's values are printed. What coverage and
// findings are, another section says; and lenses and the gate have their own.
func jsonKeys(of reflect.Type, keys map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		jsonKeys(of.Elem(), keys)
		return
	case reflect.Struct:
	default:
		return
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		if name != "" {
			keys[name] = true
		}
		if slices.Contains([]string{"Coverage", "Findings", "Gate", "Parts"}, field.Name) && of == reflect.TypeFor[Report]() {
			continue
		}
		jsonKeys(field.Type, keys)
	}
}
