package help

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed topics/*.txt commands/*.txt
var texts embed.FS

// Describe gives a command its texts: how it is used, what it does in a line and in full, and
// examples. It panics if there are none of that name.
func Describe(cmd *cobra.Command, name string) {
	data, err := texts.ReadFile("commands/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	text, examples, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), "\n\nExamples:\n")
	lines := strings.SplitN(text, "\n", 4)
	cmd.Use, cmd.Short, cmd.Example = lines[0], lines[1], examples
	if len(lines) > 3 {
		cmd.Long = lines[3]
	}
}

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
