package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/compact"
	"ctxtool/internal/base/help"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// TestCommandPages holds docs/commands to the help of commands and to its topics.
func TestCommandPages(t *testing.T) {
	const dir = "../../docs/commands"
	want := map[string]bool{}
	var page func(c *cobra.Command)
	page = func(c *cobra.Command) {
		if !c.IsAvailableCommand() && c.HasParent() {
			return
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "_") + ".md"
		want[name] = true
		c.DisableAutoGenTag = true
		c.InitDefaultHelpFlag()
		for _, name := range help.OfSome {
			c.Root().PersistentFlags().Lookup(name).Hidden = !help.Takes(c, name)
		}
		var b bytes.Buffer
		must.Do(doc.GenMarkdown(c, &b))
		if !c.HasParent() {
			b.WriteString("Topics:\n\n")
			for _, topic := range help.Topics() {
				fmt.Fprintf(&b, "* [ctxtool help %s](ctxtool_help_%s.md)\n", topic, topic)
			}
		}
		golden.Equal(t, filepath.Join(dir, name), b.Bytes())
		for _, sub := range c.Commands() {
			page(sub)
		}
	}
	page(newRoot(&env{machine: machine{stdin: os.Stdin}}, ""))
	for _, topic := range help.Topics() {
		text, _ := help.Topic(topic, topicLists())
		name := "ctxtool_help_" + topic + ".md"
		want[name] = true
		golden.Equal(t, filepath.Join(dir, name), []byte("## ctxtool help "+topic+"\n\n"+topicTable.ReplaceAllString(text, "\n```\n$0```\n")))
	}
	files := must.Get(filepath.Glob(dir + "/*.md"))
	for _, f := range files {
		if !want[filepath.Base(f)] {
			t.Errorf("%s is the page of no command", f)
		}
	}
}

// topicTable are the indented lines of a topic, which Markdown is to leave as they are.
var topicTable = regexp.MustCompile(`(?m)(?:^  .*\n)+`)

// grouped checks that each flag in a group of the help is one of a command.
func grouped(t *testing.T, root *cobra.Command) {
	flags := map[string]bool{}
	for _, c := range append(root.Commands(), root) {
		note := func(f *pflag.Flag) {
			flags[f.Name], flags[c.Name()+"/"+f.Name] = true, true
		}
		c.Flags().VisitAll(note)
		c.PersistentFlags().VisitAll(note)
	}
	for _, g := range help.Groups {
		for name := range strings.FieldsSeq(g.Flags) {
			if !flags[name] {
				t.Errorf("the help has a flag %s in the group %s, and no command has it", name, g.Name)
			}
		}
	}
}

// TestHelp holds help to what people take in: the program's to 50 lines; a command's to three
// examples, which its flags allow; and all of it to 80 columns.
func TestHelp(t *testing.T) {
	root := newRoot(&env{machine: machine{stdin: os.Stdin}}, "")
	grouped(t, root)
	narrow := func(name, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: more than 80 columns: %s", name, line)
			}
		}
	}
	helpOf := func(c *cobra.Command) string {
		var b strings.Builder
		must.Do(help.Command(&b, c, 0))
		narrow(c.CommandPath(), b.String())
		return b.String()
	}
	text := helpOf(root)
	if n := strings.Count(text, "\n"); n > 50 {
		t.Errorf("the program's help has %d lines", n)
	}
	for _, topic := range help.Topics() {
		page, _ := help.Topic(topic, topicLists())
		narrow(topic, page)
		if strings.Contains(page, "{") || !strings.Contains(text, topic) {
			t.Errorf("topic %s has a list that is missing, or is not listed", topic)
		}
	}
	flags := 0
	root.PersistentFlags().VisitAll(func(*pflag.Flag) { flags++ })
	for _, c := range commands {
		cmd, _, _ := root.Find([]string{c.name})
		text := helpOf(cmd)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && cmd.InheritedFlags().Lookup(f.Name) == nil && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("the help of %s does not name --%s", c.name, f.Name)
			}
		})
		if n := strings.Count(text, "\n"); n > 50 {
			t.Errorf("the help of %s has %d lines", c.name, n)
		}
		own := 0
		cmd.LocalNonPersistentFlags().VisitAll(func(*pflag.Flag) { own++ })
		if flags += own; own > 35 {
			t.Errorf("%s has %d flags", c.name, own)
		}
		if n := len(cmd.Example); n > 0 && strings.Count(cmd.Example, "\n") > 3 || n == 0 && c.name != "version" {
			t.Errorf("%s has not three or four examples", c.name)
		}
	}
	if flags > 353 {
		t.Errorf("%d flags", flags)
	}
}

// TestExamples: the examples of commands, as far as they are ours, have flags and arguments
// that the commands take.
func TestExamples(t *testing.T) {
	for _, c := range commands {
		cmd, _, _ := newRoot(&env{machine: machine{stdin: os.Stdin}}, "").Find([]string{c.name})
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			line, _, _ = strings.Cut(line, "  #")
			for part := range strings.SplitSeq(line, " | ") {
				words := shellWord.FindAllString(strings.ReplaceAll(part, `"`, "'"), -1)
				if len(words) == 0 || words[0] != "ctxtool" {
					continue
				}
				one, args, err := newRoot(&env{machine: machine{stdin: os.Stdin}}, "").Find(words[1:])
				if err = cmp.Or(err, one.ParseFlags(args)); err == nil && one.Args != nil {
					err = one.Args(one, one.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: %v", part, err)
				}
			}
		}
	}
}

// manDir is where TestManPages leaves the man pages, for make dist.
var manDir = flag.String("man", "", "write man pages into that folder")

// TestManPages: each command has a man page, with what it does, its flags and the date of the
// source; that of the program says what each command is for.
func TestManPages(t *testing.T) {
	if *manDir == "" {
		t.Setenv("SOURCE_DATE_EPOCH", "1794000000")
	}
	dir := cmp.Or(*manDir, t.TempDir())
	must.Do(os.MkdirAll(dir, 0o755))
	root := newRoot(&env{machine: machine{stdin: os.Stdin}}, "")
	commands := slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
	about := root.Short + "\n\n# COMMANDS\n"
	for _, c := range commands {
		about += fmt.Sprintf("**%s**\n: %s\n\n", c.Name(), c.Short)
	}
	root.Long = about
	must.Do(doc.GenManTree(root, &doc.GenManHeader{Title: "CTXTOOL", Section: "1", Source: "ctxtool", Manual: "ctxtool"}, dir))
	program := string(must.Get(os.ReadFile(filepath.Join(dir, "ctxtool.1"))))
	if *manDir == "" && !strings.Contains(program, `"Nov 2026"`) {
		t.Errorf("the page of the program has no date: %.80s", program)
	}
	for _, c := range commands {
		page, err := os.ReadFile(filepath.Join(dir, "ctxtool-"+c.Name()+".1"))
		if err != nil || !bytes.Contains(page, []byte(".SH OPTIONS")) || !bytes.Contains(page, []byte(".SH NAME")) {
			t.Errorf("%s has no man page: %v", c.Name(), err)
		}
		if !strings.Contains(program, "\\fB"+c.Name()+"\\fP\n"+c.Short) {
			t.Errorf("the page of the program does not say what %s is for", c.Name())
		}
	}
}

// TestReductionsDocumented: the keys that plans of reductions have are those that
// docs/formats.md explains: in the first cell of a table's row, or listed as `{a, b?, c[]}`.
// What it explains is the name of a member that such a plan can have.
func TestReductionsDocumented(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../docs/formats.md"))
	_, section, _ := strings.Cut(string(text), "## Plans")
	section, _, _ = strings.Cut(section, "## `ctxtool/count/1`")
	plans, _, _ := strings.Cut(section, "### What is appended")
	_, policies, _ := strings.Cut(section, "## `ctxtool/policies/2`")
	documented := documentedKeys(plans + policies)

	seen := map[string]bool{}
	for _, line := range []string{
		"reduce --pass truncate:max=300 DEMO --as edits -f json", "compact --pass compact:keep=500 DEMO -f json", "reduce DEMO --policy y-agent --if-over 99% -f json",
		"reduce testdata/sessions/good -f json", "policies -f json",
	} {
		out, _ := said(t, commandLine(line, "DEMO", demo)...)
		var v any
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		keysOf(v, seen)
	}
	for key := range seen {
		if !documented[key] {
			t.Errorf("docs/formats.md does not explain the key %s", key)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d keys", len(seen))
	}
	possible := map[string]bool{"append": true, "params": true, "options": true, "sessions": true}
	membersOf(reflect.TypeFor[plan.Plan](), possible)
	membersOf(reflect.TypeFor[plan.RewrittenLine](), possible)
	membersOf(reflect.TypeFor[compact.Policy](), possible)
	for key := range documented {
		if !possible[key] && !seen[key] {
			t.Errorf("docs/formats.md explains the key %s, which no plan has", key)
		}
	}
}

var (
	keyCell   = regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
	keyList   = regexp.MustCompile("`\\{([^}]*)\\}`")
	codeWords = regexp.MustCompile(`[a-zA-Z_]+`)
)

// documentedKeys are the keys that a section of docs/formats.md explains.
func documentedKeys(section string) map[string]bool {
	keys := map[string]bool{}
	for _, pattern := range []*regexp.Regexp{keyCell, keyList} {
		for _, m := range pattern.FindAllStringSubmatch(section, -1) {
			for _, word := range codeWords.FindAllString(m[1], -1) {
				keys[word] = true
			}
		}
	}
	return keys
}

// membersOf adds the names that the members of a type have in JSON, those of what it holds
// included.
func membersOf(of reflect.Type, names map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		membersOf(of.Elem(), names)
	case reflect.Struct:
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || name == "" && !field.Anonymous {
				continue
			}
			names[name] = true
			membersOf(field.Type, names)
		}
	}
}

// keysOf collects the keys of all objects in a value but for those of entries, whose
// format is pi's, and those of options.
func keysOf(v any, seen map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, el := range v {
			keysOf(el, seen)
		}
	case map[string]any:
		for key, el := range v {
			seen[key] = true
			if key != "append" && key != "params" && key != "options" {
				keysOf(el, seen)
			}
		}
	}
}

// TestCommandNames: each command is found by the name that its line in the table has.
func TestCommandNames(t *testing.T) {
	for _, c := range commands {
		root := newRoot(&env{machine: machine{stdin: os.Stdin}}, commandOf([]string{c.name, "x"}))
		if cmd, _, err := root.Find([]string{c.name}); err != nil || cmd.Name() != c.name {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if n := len(newRoot(&env{machine: machine{stdin: os.Stdin}}, commandOf([]string{"help"})).Commands()); n < len(commands) {
		t.Errorf("%d commands of %d", n, len(commands))
	}
}
