package show

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/lens/diff"
	"ctxtool/internal/read/linediff"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/models"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// writeDiff writes a comparison as text.
func writeDiff(w *bufio.Writer, d *diff.Difference, on Screen) error {
	t := &diffText{w: w, x: comparison{d}, on: on, width: lineWidth(on.Width)}
	return t.write()
}

type diffText struct {
	w     *bufio.Writer
	x     comparison
	on    Screen
	width int
}

func (t *diffText) write() error {
	x := t.x
	t.line(0, '-', "--- "+sideWords(&x.A, x.Tokens.A))
	t.line(0, '+', "+++ "+sideWords(&x.B, x.Tokens.B))
	t.plain(x.sharedWords())
	if sizes := x.sizes(); len(sizes) > 0 {
		t.plain("tokens: " + strings.Join(sizes, ", "))
	}
	if x.Model != nil {
		t.section("model")
		t.line(1, '~', nameOfModel(x.Model.A)+" to "+nameOfModel(x.Model.B)+by(x.Model.Cause))
	}
	if len(x.Options) > 0 {
		t.section("options")
		for _, c := range x.Options {
			t.line(1, '~', c.Name+": "+unset(c.A)+" to "+unset(c.B)+by(c.Cause))
		}
	}
	if err := x.prompt(func(name string) { t.section(strings.ToLower(name)) }, t.item); err != nil ||
		!x.MessagesDiffer() {
		return err
	}
	t.section("messages")
	for _, c := range x.Messages {
		if err := t.message(c); err != nil {
			return err
		}
	}
	return nil
}

// sideWords returns which envelope a side is, in words.
func sideWords(s *diff.Side, n weigh.Counts) string {
	at := cmp.Or(phrase.If(s.Entry != "", "after entry %s", entryID(s.Entry)), "before the first entry")
	return fmt.Sprintf("%s, %s, before request %d: %s, %s", source(s.Source), at, s.RequestIndex,
		phrase.Count(s.Cached+s.Uncached, "message"), phrase.Count(s.Usage.Or(n).Tokens, "token"))
}

// sharedWords returns how much both sides share, in words.
func (x comparison) sharedWords() string {
	if x.Equal() {
		return "both are the same"
	}
	first := ""
	switch x.Shared.First {
	case "messages":
		first = fmt.Sprintf("; the first difference is message %d", x.Shared.Messages)
	case "":
	default:
		first = "; the first difference is in " + x.Shared.First
	}
	return fmt.Sprintf("shared prefix: %s, %s%s", phrase.Count(x.Shared.Messages, "message"),
		phrase.Count(x.Shared.Tokens, "token"), first)
}

// sizes returns the sizes that differ, in words.
func (x comparison) sizes() (all []string) {
	for _, c := range x.categories() {
		if c.tokens[0] != c.tokens[1] || c.bytes[0] != c.bytes[1] {
			all = append(all, fmt.Sprintf("%s %s to %s%s", c.name, c.tokens[0], c.tokens[1],
				phrase.If(c.tokens[0].known && c.tokens[1].known, " (%+d)", c.tokens[1].n-c.tokens[0].n)))
		}
	}
	return all
}

// An amount is a size that may be unknown.
type amount struct {
	n     int
	known bool
}

func (a amount) String() string {
	if !a.known {
		return "unknown"
	}
	return strconv.Itoa(a.n)
}

// cell returns the amount as a cell of a table, nil if it is unknown.
func (a amount) cell() any {
	if !a.known {
		return nil
	}
	return a.n
}

// A category is a kind of content with its sizes on both sides.
type category struct {
	name          string
	tokens, bytes [2]amount
}

// categories returns the sizes by category. Where prompt or tools are not recorded, what the context
// has beyond the counted parts is one of them, and part of the total.
func (x comparison) categories() []category {
	all := categoriesOf(x.Tokens, x.Bytes)
	rest, total := category{}, &all[len(all)-1]
	for k, side := range []struct {
		usage  weigh.Size
		counts weigh.Counts
	}{{x.A.Usage, x.Tokens.A}, {x.B.Usage, x.Tokens.B}} {
		if all := side.usage.Or(side.counts).Tokens; all > side.counts.Total {
			total.tokens[k].n = all
			rest.name, rest.tokens[k].n = side.usage.Rest(side.counts.Total)
			rest.tokens[k].known = true
		}
	}
	if rest.tokens[0].known || rest.tokens[1].known {
		all = slices.Insert(all, len(all)-1, rest)
	}
	return all
}

func categoriesOf(tokens, bytes diff.Sizes) (all []category) {
	for _, c := range categories {
		one := category{name: c.name}
		one.tokens[0], one.tokens[1] = c.of(tokens.A), c.of(tokens.B)
		one.bytes[0], one.bytes[1] = c.of(bytes.A), c.of(bytes.B)
		all = append(all, one)
	}
	return all
}

// categories are the kinds of content, and their sum.
var categories = []struct {
	name string
	of   func(weigh.Counts) amount
}{
	{"system", func(n weigh.Counts) amount { return amount{n.System, !n.NoSystem} }},
	{"tools", func(n weigh.Counts) amount { return amount{n.Tools, !n.NoTools} }},
	{"messages", func(n weigh.Counts) amount { return amount{n.Messages, true} }},
	{"total", func(n weigh.Counts) amount { return amount{n.Total, true} }},
}

func (t *diffText) plain(text string) { t.w.WriteString(sessionfmt.Clean(text) + "\n") }

func (t *diffText) section(name string) { t.w.WriteString("\n" + t.on.paint(heading, name) + "\n") }

// line writes an indented line in the colour of its mark.
func (t *diffText) line(indent int, mark byte, text string) {
	text = strings.TrimRight(fit(sessionfmt.Clean(text), t.width-2*indent), " ")
	t.w.WriteString(strings.Repeat("  ", indent) + t.on.paint(markStyle(mark), text) + "\n")
}

func (t *diffText) item(c itemDiff) {
	t.line(1, changeMark(c.Change), string(changeMark(c.Change))+" "+c.Name+": "+string(c.Change)+by(c.Cause))
	t.lines(c.old, c.new, c.Change)
}

// lines writes the difference of two texts.
func (t *diffText) lines(old, new string, change diff.Change) {
	if change == diff.Moved || old == new {
		return
	}
	all := linediff.Fold(linediff.Lines(old, new))
	for i := 0; i < len(all); {
		if removed, added := pairedLines(all[i:]); removed > 0 {
			for k := range removed {
				t.pair(all[i+k].Text, all[i+removed+k].Text, '-')
			}
			for k := range added {
				t.pair(all[i+k].Text, all[i+removed+k].Text, '+')
			}
			i += removed + added
			continue
		}
		if l := all[i]; l.Mark == '@' {
			t.line(2, ' ', "… "+l.Text)
		} else {
			t.line(2, l.Mark, string(l.Mark)+" "+phrase.Cut(l.Text, linediff.ShortLine))
		}
		i++
	}
}

// pairedLines returns the number of removed lines at the start of a comparison, and of added
// lines after them, if these are equal: each added line replaces a removed one. Otherwise it
// returns 0, 0.
func pairedLines(all []linediff.Line) (removed, added int) {
	for removed < len(all) && all[removed].Mark == '-' {
		removed++
	}
	for removed+added < len(all) && all[removed+added].Mark == '+' {
		added++
	}
	if removed != added {
		return 0, 0
	}
	return removed, added
}

// pair writes one of two lines, the new one replacing the old one. In colour, the words that
// differ stand out.
func (t *diffText) pair(old, new string, mark byte) {
	old, new = linediff.Narrow(old, new)
	was, is := []linediff.Line{{Mark: ' ', Text: old}}, []linediff.Line{{Mark: ' ', Text: new}}
	if t.on.Colour {
		was, is = linediff.Words(old, new)
	}
	side := was
	if mark == '+' {
		side = is
	}
	t.w.WriteString("    " + t.on.paint(markStyle(mark), string(mark)))
	if old != "" && mark == '-' || new != "" && mark == '+' {
		t.w.WriteByte(' ')
	}
	for _, piece := range side {
		text := sessionfmt.Clean(piece.Text)
		if piece.Mark == ' ' {
			t.w.WriteString(t.on.paint(markStyle(mark), text))
		} else {
			t.w.WriteString(t.on.paint(different+";"+markStyle(mark), text))
		}
	}
	t.w.WriteByte('\n')
}

// message writes a run of messages, and how a single one changed.
func (t *diffText) message(c diff.MessageChange) error {
	mark := changeMark(c.Change)
	text := fmt.Sprintf("%c %-9s ", mark, placesOf(c))
	if c.Count > 1 || c.Change == diff.Kept || c.Change == diff.Moved || c.Change == diff.Summarised {
		t.line(1, mark, text+fmt.Sprintf("%s %s, %s%s", phrase.Count(c.Count, "message"), c.Change,
			phrase.Count(c.Tokens, "token"), by(c.Cause)))
		return nil
	}
	what, err := t.x.gist(c)
	if err != nil {
		return err
	}
	t.line(1, mark, text+fmt.Sprintf("%s%s, %s: %s", c.Change, by(c.Cause), phrase.Count(c.Tokens, "token"), what))
	if c.A < 0 || c.B < 0 {
		return nil
	}
	old, new, err := t.x.texts(c)
	if err == nil {
		t.lines(old, new, c.Change)
	}
	return err
}

// texts returns the texts of a message on both sides.
func (x comparison) texts(c diff.MessageChange) (old, new string, err error) {
	v, err := x.ValueA(c.A)
	if err != nil {
		return "", "", err
	}
	old = textOf(v.Get("content"))
	if v, err = x.ValueB(c.B); err != nil {
		return "", "", err
	}
	return old, textOf(v.Get("content")), nil
}

// gist returns the role of a message and its first words.
func (x comparison) gist(c diff.MessageChange) (string, error) {
	value, i := x.ValueB, c.B
	if c.B < 0 {
		value, i = x.ValueA, c.A
	}
	v, err := value(i)
	if err != nil {
		return "", err
	}
	return v.Get("role").Text() + " " + outline.MessageGist(v), nil
}

func changeMark(c diff.Change) byte {
	switch c {
	case diff.Kept:
		return '='
	case diff.Added:
		return '+'
	case diff.Removed, diff.Summarised:
		return '-'
	}
	return '~'
}

// placesOf returns the indexes of messages: those in A, those in B, or A>B.
func placesOf(c diff.MessageChange) string {
	indexes := func(from int) string {
		if c.Count > 1 {
			return fmt.Sprintf("%d-%d", from, from+c.Count-1)
		}
		return fmt.Sprint(from)
	}
	switch {
	case c.A < 0:
		return indexes(c.B)
	case c.B < 0 || c.A == c.B:
		return indexes(c.A)
	}
	return indexes(c.A) + ">" + indexes(c.B)
}

// nameOfModel returns a model's name, or "none".
func nameOfModel(m models.Ref) string { return cmp.Or(m.Name(), "none") }

func unset(v []byte) string { return cmp.Or(string(v), "unset") }

func partText(parts []prompt.Part, i origin.Index) string {
	if i < 0 {
		return ""
	}
	return parts[i].Text
}

// toolText returns a tool's definition as it is compared line by line, or the description of
// a tool that was added or removed.
func toolText(tools []prompt.Tool, i origin.Index, change diff.Change) string {
	if i < 0 {
		return ""
	}
	var f [2]jsonl.Value
	tools[i].Raw.Fields(f[:], "description", "parameters")
	if change != diff.Changed {
		return f[0].Text()
	}
	return f[0].Text() + "\n" + string(phrase.Indent(f[1]))
}

// A comparison is a difference as it is written. It reads texts as it writes them.
type comparison struct{ *diff.Difference }

// prompts returns prompt and tools of both sides.
func (x comparison) prompts() (a, b *prompt.Prompt, err error) {
	if a, err = x.A.Envelope.Prompt(); err != nil {
		return nil, nil, err
	}
	b, err = x.B.Envelope.Prompt()
	return a, b, err
}

// An itemDiff is a part or tool that differs, with its texts on both sides.
type itemDiff struct {
	diff.ItemChange
	old, new string
}

// prompt writes the parts and tools that differ, below a heading each.
func (x comparison) prompt(heading func(name string), item func(itemDiff)) error {
	was, is, err := x.prompts()
	if err != nil {
		return err
	}
	if len(x.Parts) > 0 {
		heading("System")
	}
	for _, c := range x.Parts {
		for _, d := range sectionDiffs(c, was.Parts, is.Parts) {
			item(d)
		}
	}
	if len(x.Tools) > 0 {
		heading("Tools")
	}
	for _, c := range x.Tools {
		item(itemDiff{c, toolText(was.Tools, c.A, c.Change), toolText(is.Tools, c.B, c.Change)})
	}
	return nil
}

// sectionDiffs returns the sections of a part that differ, or the part.
func sectionDiffs(c diff.ItemChange, was, is []prompt.Part) (all []itemDiff) {
	if len(c.Sections) == 0 {
		return []itemDiff{{c, partText(was, c.A), partText(is, c.B)}}
	}
	was, is = prompt.Split(was[c.A:c.A+1]), prompt.Split(is[c.B:c.B+1])
	for _, s := range c.Sections {
		d := itemDiff{s, partText(was, s.A), partText(is, s.B)}
		if d.Name != c.Name {
			d.Name = c.Name + ": " + d.Name
		}
		all = append(all, d)
	}
	return all
}

// source returns the file and point of a side, as given.
func source(s diff.Source) string {
	return sessionfmt.Clean(s.File + phrase.If(s.Point != "", "@%s", s.Point))
}

// by returns the cause of a difference, to follow other words.
func by(c diff.Cause) string {
	if c.IsZero() {
		return ""
	}
	return " by " + orDash(entryID(c.Entry)) + " " + strings.ReplaceAll(c.Kind, "_", " ") +
		phrase.If(c.Op >= 0, ", op %d", c.Op)
}
