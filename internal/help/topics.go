package help

import (
	"embed"
	"strings"
)

//go:embed topics/*.txt
var texts embed.FS

// Topics are the names of the topics, in the order of the alphabet.
func Topics() (names []string) {
	files, _ := texts.ReadDir("topics") // is embedded
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".txt"))
	}
	return names
}

// Topic returns the text of a topic, and false if there is none of that name. The names of
// lists in braces are replaced by the lists.
func Topic(name string, lists map[string]string) (text string, ok bool) {
	data, err := texts.ReadFile("topics/" + name + ".txt")
	text = string(data)
	for name, list := range lists {
		text = strings.ReplaceAll(text, "{"+name+"}\n", list+"\n")
	}
	return text, err == nil
}

// List is rows of two columns as a topic has them.
func List(rows [][2]string) string {
	widest := 0
	for _, r := range rows {
		widest = max(widest, len(r[0]))
	}
	return table(rows, widest, minWidth)
}
