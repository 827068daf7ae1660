package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ctxtool/internal/base/table"
	"ctxtool/internal/phrase"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt"
)

// textCell returns a cell as text.
func textCell(unit table.Unit, cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case table.About:
		return "~" + textCell(unit, v.Of)
	case table.Best:
		return sessionfmt.Clean(string(v)) + " *"
	case *float64:
		if v != nil {
			return textCell(unit, *v)
		}
		return ""
	case float64:
		return amount(unit, v)
	case int:
		return textCell(unit, int64(v))
	case int64:
		return whole(unit, v)
	case []int64:
		return sparkline(v)
	case origin.Index:
		return orNothing(v)
	}
	if unit == table.Entry {
		return entryID(fmt.Sprint(cell))
	}
	return sessionfmt.Clean(fmt.Sprint(cell))
}

// amount returns a number that may have decimals as text.
func amount(unit table.Unit, n float64) string {
	switch unit {
	case table.Share:
		return phrase.Percent(n)
	case table.Dollars:
		if n == 0 {
			return "$0"
		}
		return usd(n)
	case table.Number:
		return fmt.Sprintf("%.3f", n)
	}
	return decimal(n)
}

// whole returns a number without decimals as text.
func whole(unit table.Unit, n int64) string {
	switch {
	case unit == table.Short:
		return phrase.Short(n)
	case unit == table.Size:
		return megabytes(n)
	case unit == table.Change && n == 0:
		return ""
	case unit == table.Change:
		return fmt.Sprintf("%+d", n)
	}
	return number(n)
}

// figureSigns escapes the signs before numbers, which would be marks of Markdown. Code spans would
// not look like a column of figures.
var figureSigns = strings.NewReplacer("$", `\$`, "~", `\~`)

// markdownCell returns a cell as Markdown.
func markdownCell(unit table.Unit, cell any) string {
	switch v := cell.(type) {
	case table.Best:
		return "**" + inline(string(v)) + "**"
	case string:
		return inline(textCell(unit, v))
	}
	return figureSigns.Replace(textCell(unit, cell))
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

// usd returns an amount of dollars.
func usd(n float64) string { return table.Money{Dollars: n, Decimals: 4}.String() }

// spent is a cost, marked where some of it is computed. Some of the calls may have no known price.
func spent(cost float64, computed bool, unpriced int64) string {
	return phrase.If(computed, "~") + table.Money{Dollars: cost, Decimals: 2, Unpriced: unpriced}.String()
}

// limited returns a figure of a gate or its limit as text.
func limited(unit string, n float64) string {
	switch unit {
	case "share":
		return phrase.Percent(n)
	case "dollars":
		if n != 0 && math.Abs(n) < 0.0001 {
			return decimal(n)
		}
		text := strconv.FormatFloat(n, 'f', 4, 64)
		return strings.TrimSuffix(text, "00") // cents are always shown
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
