package show

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"ctxtool/internal/base/lazy"
	"ctxtool/internal/base/markdown"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// rounds reports whether a text is for a terminal, on which numbers are rounded and the paths of
// sessions are projects and short ids. Into a pipe they go as they are.
func (s Screen) rounds() bool { return s.Width > 0 }

// cell returns a cell as text.
func (s Screen) cell(unit table.Unit, cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case table.About:
		return "~" + s.cell(unit, v.Of)
	case table.Best:
		return sessionfmt.Clean(string(v)) + " *"
	case table.Money:
		if s.rounds() && (v.Dollars == 0 || v.Dollars >= 0.1) {
			v.Decimals = 2
		}
		return v.String()
	case *float64:
		if v != nil {
			return s.amount(unit, *v)
		}
		return ""
	case float64:
		return s.amount(unit, v)
	case int:
		return s.whole(unit, int64(v))
	case int64:
		return s.whole(unit, v)
	case []int64:
		return sparkline(v)
	case origin.Index:
		return orNothing(v)
	}
	text := fmt.Sprint(cell)
	switch {
	case unit == table.Entry:
		return entryID(text)
	case unit == table.Path && s.rounds():
		text = shortPath(text)
	}
	return sessionfmt.Clean(text)
}

// amount returns a number that may have decimals as text.
func (s Screen) amount(unit table.Unit, n float64) string {
	switch unit {
	case table.Share:
		return phrase.Percent(n)
	case table.Dollars:
		if n == 0 {
			return "$0"
		}
		return s.cell(unit, table.Money{Dollars: n, Decimals: 4})
	case table.Number:
		return fmt.Sprintf("%.3f", n)
	}
	return decimal(n)
}

// whole returns a number without decimals as text.
func (s Screen) whole(unit table.Unit, n int64) string {
	switch {
	case unit == table.Short, unit == table.Tokens && s.rounds():
		return phrase.Short(n)
	case unit == table.Size, unit == table.Bytes && s.rounds():
		return megabytes(n)
	case unit == table.Change && n == 0:
		return ""
	case unit == table.Change:
		return fmt.Sprintf("%+d", n)
	}
	return number(n)
}

// shortID is how much of a session's id is enough to find it by.
const shortID = 13

// sessionUUID is the id of a session in the name of its file.
var sessionUUID = lazy.Regexp(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// shortPath returns the project and the short id of a session whose file has the id in its name, as
// agents name them, and another path as it is.
func shortPath(name string) string {
	dir, file := path.Split(name)
	id := sessionUUID().FindString(file)
	if id == "" {
		return name
	}
	project := strings.Trim(path.Base(dir), "-.0123456789") // not a day of Codex
	return phrase.If(project != "", "%s ", project) + id[:shortID]
}

// figureSigns escapes the signs before numbers, which would be marks of Markdown. Code spans would
// not look like a column of figures.
var figureSigns = strings.NewReplacer("$", `\$`, "~", `\~`)

// inline returns a text of a session as inline Markdown that does nothing.
func inline(text string) string { return string(markdown.AppendInline(nil, []byte(text))) }

// markdownCell returns a cell as Markdown.
func markdownCell(unit table.Unit, cell any) string {
	switch v := cell.(type) {
	case table.Best:
		return "**" + inline(string(v)) + "**"
	case string:
		return inline(Screen{}.cell(unit, v))
	}
	return figureSigns.Replace(Screen{}.cell(unit, cell))
}

// csvCell returns a cell of a CSV file: numbers unrounded, none or nothing of an unknown price. A
// text that a spreadsheet would take for a formula begins with an apostrophe.
func csvCell(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case table.About:
		return csvCell(v.Of)
	case table.Money:
		return phrase.If(v.Known(), "%s", decimal(v.Dollars))
	case float64:
		return decimal(v)
	case *float64:
		if v == nil {
			return ""
		}
		return decimal(*v)
	case origin.Index:
		return orNothing(v)
	case []int64:
		return strings.Trim(fmt.Sprint(v), "[]")
	}
	text := sessionfmt.Clean(fmt.Sprint(cell))
	_, err := strconv.ParseFloat(text, 64)
	if err != nil && text != "" && text != "-" && strings.ContainsRune(formulas, []rune(text)[0]) {
		return "'" + text
	}
	return text
}

// formulas are the characters with which spreadsheets let a formula begin, in full width too.
const formulas = "=+-@＝＋－＠"

func number(n int64) string { return strconv.FormatInt(n, 10) }

// decimal returns a number with all of its decimals.
func decimal(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// orNothing returns a place as text, or "" for none.
func orNothing(n origin.Index) string { return phrase.If(n >= 0, "%d", n) }

// spent returns a cost, marked where some of it is computed. Some of the calls may have no known price.
func spent(cost float64, computed bool, unpriced int64) string {
	return phrase.If(computed, "~") + table.Money{Dollars: cost, Decimals: 2, Unpriced: unpriced}.String()
}

// limited returns a figure of a gate or its limit as text.
func limited(unit string, n float64) string {
	switch unit {
	case "share":
		return phrase.Percent(n)
	case "dollars":
		sign := phrase.If(n < 0, "-") + "$"
		if n = math.Abs(n); n != 0 && n < 0.0001 {
			return sign + decimal(n)
		}
		return sign + strings.TrimSuffix(strconv.FormatFloat(n, 'f', 4, 64), "00") // cents are always shown
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// megabytes returns a size in bytes as text.
func megabytes(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.0f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
