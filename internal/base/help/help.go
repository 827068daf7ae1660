// Package help prints the help of commands, and the topics that they share.
package help

import (
	"bufio"
	"cmp"
	"embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// headings are those of the groups of flags, in the order in which help lists them.
var headings = []string{"Flags", "Hook", "Selection", "Reduction", "Counting", "Gate", "Writing", "Output"}

// Groups are flags by their group: a heading, or a topic, of whose flags help only says the names.
// A flag of one command is COMMAND/FLAG; flags without a group are under the heading Flags.
var Groups = []struct{ Name, Flags string }{
	{"Flags", "redact/structure-only redact/names redact/patterns redact/values redact/env check/implemented"},
	{"Hook", "file op set-part remove-part remove-tool set append-message why schema exec each timeout reason"},
	{"Selection", "agent all at before blame broken digest exclude files fixed grep if-over ignore-case include kind " +
		"leaf lens limit only " +
		"only-model project regexp request since skip tail until role tool " +
		"path-only in-context sweep optimize simulate/policy simulate/explain stats/by"},
	{"Reduction", "pass policy target reduce/counter"},
	{"Counting", "by calibrate collapse-system counter max-iterations summary-ratio simulate/timeout " +
		"simulate/summarizer"},
	{"Gate", "fail-on fail-over"},
	{"Writing", "write branch/output edit/output import/output import/resume label/output migrate/output " +
		"patch/output patch/format redact/output reduce/format reduce/output repair/output undo/output label/session " +
		"migrate/strict repair/strict undo/strict"},
	{"Output", "assets budget entries ephemeral explain fold follow format max-lines open provenance reverse sort " +
		"split update " +
		"lost/limit tree notes/max-tokens render/target"},
	{"formats", "json output"},
	{"gate", "against allow-empty drift require unpriced stats/broken stats/check"},
	{"rules", "baseline implemented lenient model rules strict window"},
	{"redaction", "env fail-on-secret names patterns redact structure-only values"},
	{"searching", "search/cwd embed event exit-code for search/max-tokens no-cache rank recent source"},
	{"settings", "config sessions-dir color pager no-pager quiet max-size"},
	{"summaries", "apply emit focus identifiers prompt summarizer summary-limit summary-tokens"},
	{"writing", "as force jobs no-mark now quarantine"},
}

// groupOf returns the group of a flag of a command.
func groupOf(cmd *cobra.Command, f *pflag.Flag) string {
	for _, name := range []string{cmd.Name() + "/" + f.Name, f.Name} {
		for _, g := range Groups {
			if slices.Contains(strings.Fields(g.Flags), name) {
				return g.Name
			}
		}
	}
	return headings[0]
}

// OfSome are the flags of the program that only some commands take.
var OfSome = []string{"json", "redact", "fail-on-secret"}

// Take declares which of the flags OfSome a command takes.
func Take(cmd *cobra.Command, flags ...string) {
	cmd.Annotations = map[string]string{"ctxtool_takes": strings.Join(flags, " ")}
}

// Takes reports whether a command takes a flag that it has.
func Takes(cmd *cobra.Command, flag string) bool {
	return !slices.Contains(OfSome, flag) || slices.Contains(strings.Fields(cmd.Annotations["ctxtool_takes"]), flag)
}

// The width of help: lines longer than maxWidth are hard to read.
const (
	minWidth = 80
	maxWidth = 100
)

// Command prints the help of a command: what it does, its examples and its flags. The
// terminal has so many columns, 0 for unknown.
func Command(to io.Writer, cmd *cobra.Command, columns int) error {
	w := bufio.NewWriter(to)
	p := &printer{w: w, width: min(max(columns, minWidth), maxWidth)}
	for paragraph := range strings.SplitSeq(cmp.Or(cmd.Long, cmd.Short+"."), "\n\n") {
		p.line("%s", wrap(paragraph, p.width, 0))
		if cmd.HasParent() {
			p.line("")
		}
	}
	if cmd.HasParent() {
		p.line("Usage: %s %s", cmd.Parent().CommandPath(), cmd.Use)
	} else {
		p.line("Usage: %s", cmd.Use)
	}
	if heading := "Examples"; cmd.Example != "" {
		if !cmd.HasParent() {
			heading = "Start here"
		}
		p.line("\n%s:\n%s", heading, cmd.Example)
	}
	p.commands(cmd)
	if cmd.HasParent() {
		p.flags(cmd)
		p.topics(cmd)
	} else {
		text := "Others: " + strings.Join(p.others, ", ") + ". Topics: " + strings.Join(Topics(), ", ")
		p.line("\n%s", wrap(text, p.width, 0))
	}
	return w.Flush()
}

// A printer prints help of some width.
type printer struct {
	w      io.Writer
	width  int
	others []string // commands of no group
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// commands lists the commands that a command has, by their groups. The program names those of no
// group elsewhere.
func (p *printer) commands(cmd *cobra.Command) {
	rows := map[string][][2]string{}
	for _, c := range cmd.Commands() {
		switch {
		case !c.IsAvailableCommand():
		case c.GroupID == "" && !cmd.HasParent():
			p.others = append(p.others, c.Name())
		default:
			rows[c.GroupID] = append(rows[c.GroupID], [2]string{c.Name(), c.Short})
		}
	}
	for _, g := range cmd.Groups() {
		p.table(g.Title, rows[g.ID], 11)
	}
	p.table("Commands", rows[""], 11)
}

// flags lists the flags of a command by their headings, and names those of topics but for settings,
// which all commands have.
func (p *printer) flags(cmd *cobra.Command) {
	listed, widest := map[string][][2]string{}, 0
	shared := map[string][]string{}
	add := func(f *pflag.Flag) {
		switch group := groupOf(cmd, f); {
		case f.Hidden || f.Name == "help" || !Takes(cmd, f.Name):
		case slices.Contains(headings, group):
			name, usage := flagRow(f)
			listed[group] = append(listed[group], [2]string{name, usage})
			widest = max(widest, utf8.RuneCountInString(name))
		default:
			shared[group] = append(shared[group], "--"+f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	for _, heading := range headings {
		p.table(heading, listed[heading], min(widest, mostName))
	}
	var rows [][2]string
	for _, topic := range Topics() {
		switch names := shared[topic]; {
		case topic == "settings":
			rows = append(rows, [2]string{topic, "flags of every command"})
		case len(names) > 0:
			rows = append(rows, [2]string{topic, strings.Join(names, ", ")})
		}
	}
	p.table("More flags (ctxtool help TOPIC)", rows, len("redaction"))
}

// mostName is how wide a flag's name may be beside its usage.
const mostName = 30

// flagRow returns a flag as help lists it: its name with the name of its value, and its usage.
func flagRow(f *pflag.Flag) (name, usage string) {
	value, usage := pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value != "" {
		name += " " + value
	}
	if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
		value := "default " + strings.Trim(f.DefValue, "[]") + ")"
		if more, ok := strings.CutSuffix(usage, ")"); ok {
			return name, more + "; " + value
		}
		usage += " (" + value
	}
	return name, usage
}

// valueName is the name of a value, such as POINT, in a line of help.
var valueName = regexp.MustCompile(`\b[A-Z]{2,}\b`)

// topics names the topics that explain what the arguments and flags of a command take.
func (p *printer) topics(cmd *cobra.Command) {
	text := cmd.Use
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(headings, groupOf(cmd, f)) {
			text += " " + f.Usage
		}
	})
	see := []string{"exit-status"}
	for _, name := range valueName.FindAllString(text, -1) {
		see = append(see, strings.TrimSuffix(strings.ToLower(name), "s")+"s")
	}
	see = slices.DeleteFunc(Topics(), func(topic string) bool { return !slices.Contains(see, topic) })
	p.line("\nSee also: ctxtool help %s", strings.Join(see, ", "))
}

// table prints rows under a heading, if there are any.
func (p *printer) table(heading string, rows [][2]string, widest int) {
	if len(rows) > 0 {
		p.line("\n%s:\n%s", heading, table(rows, widest, p.width))
	}
}

// table returns rows of two columns: the first is as wide as said, and longer cells of it are on lines of their
// own; cells of the second are wrapped to the width.
func table(rows [][2]string, widest, width int) string {
	var lines []string
	for _, r := range rows {
		head, pad := "  "+r[0], widest-utf8.RuneCountInString(r[0])
		if pad < 0 {
			lines = append(lines, head)
			head, pad = "", widest+2
		}
		lines = append(lines, wrap(head+strings.Repeat(" ", pad+2)+r[1], width, widest+4))
	}
	return strings.Join(lines, "\n")
}

// wrap breaks a text into lines of a width, those after the first indented. The first keeps
// its beginning of as many columns as they are indented.
func wrap(text string, width, indent int) string {
	runes := []rune(text)
	line, rest := string(runes[:indent]), strings.Fields(string(runes[indent:]))
	done, n := "", indent
	for _, word := range rest {
		if size := utf8.RuneCountInString(word) + 1; n+size-1 > width && n > indent {
			done += strings.TrimRight(line, " ") + "\n"
			line, n = strings.Repeat(" ", indent), indent
		}
		line += word + " "
		n += utf8.RuneCountInString(word) + 1
	}
	return done + strings.TrimRight(line, " ")
}

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

// Topics returns the names of the topics, in the order of the alphabet.
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

// List returns rows of two columns as a topic has them.
func List(rows [][2]string) string {
	widest := 0
	for _, r := range rows {
		widest = max(widest, len(r[0]))
	}
	return table(rows, widest, minWidth)
}
