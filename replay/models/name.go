package models

import "strings"

// latest stands for the date of an id that ends in -latest.
const latest = "latest"

// cutDate splits an id into what stands before its date and the date, as
// YYYYMMDD or latest; date is "" where the id has none.
func cutDate(id string) (stem, date string) {
	if s, ok := strings.CutSuffix(id, "-"+latest); ok {
		return s, latest
	}
	for _, form := range []string{"YYYYMMDD", "YYYY-MM-DD"} {
		at := len(id) - len(form) - 1
		if at < 0 || (id[at] != '-' && id[at] != '@') || !hasForm(id[at+1:], form) {
			continue
		}
		date := strings.ReplaceAll(id[at+1:], "-", "")
		// Eight digits may be something else: only days of this century.
		if date[:2] == "20" && inRange(date[4:6], "01", "12") && inRange(date[6:], "01", "31") {
			return id[:at], date
		}
	}
	return id, ""
}

// hasForm reports whether s, which is as long as form, has a digit for each letter of form and
// a dash for each dash.
func hasForm(s, form string) bool {
	for i := range len(form) {
		if (form[i] == '-') != (s[i] == '-') || (form[i] != '-' && !isDigit(s[i])) {
			return false
		}
	}
	return true
}

func inRange(s, from, to string) bool { return from <= s && s <= to }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// bareName returns the name a model has everywhere, and its date. Variants
// that are priced or served otherwise (:batch, :free, -fast) keep their mark,
// and so does a 4-digit date (-2508), which may as well be a size.
func bareName(id string) (name, date string) {
	name = id[strings.LastIndexByte(id, '/')+1:]
	name, vendor := cutVendor(name)
	name = cutRevision(name, vendor)
	return cutDate(name)
}

// cutVendor removes region and vendor, such as "us.anthropic." from "us.anthropic.claude", and
// reports whether there was one. In "deepseek.v3" the vendor is the name.
func cutVendor(name string) (rest string, cut bool) {
	for {
		before, after, ok := strings.Cut(name, ".")
		if !ok || before == "" || len(after) < 2 || strings.Trim(before, "abcdefghijklmnopqrstuvwxyz-") != "" {
			return name, cut
		}
		if isDigit(after[0]) || (after[0] == 'v' && isDigit(after[1])) {
			return name, cut
		}
		name, cut = after, true
	}
}

// cutRevision takes the revision of a deployment off: -v1:0 from any name, and
// -1:0 or -v1 from one that had a vendor before it. A plain -v2 is the model's
// own version, and so may be -v1 where no vendor stands.
func cutRevision(name string, vendor bool) string {
	if rest, ok := strings.CutSuffix(name, ":0"); ok {
		number := strings.TrimRight(rest, "0123456789")
		stem, ok := strings.CutSuffix(number, "-v")
		if !ok && vendor {
			stem, ok = strings.CutSuffix(number, "-")
		}
		if ok && number != rest {
			return stem
		}
	}
	if vendor {
		return strings.TrimSuffix(name, "-v1")
	}
	return name
}

// makers maps families of names to the provider that makes them. Only providers of the table
// are useful.
var makers = [...]struct{ prefix, provider string }{
	{"claude-", "anthropic"},
	{"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"gemini-", "google"}, {"gemma-", "google"},
	{"grok-", "xai"},
	{"glm-", "zai"},
	{"kimi-", "moonshotai"},
	{"deepseek-", "deepseek"},
	{"muse-", "meta"},
	{"mimo-", "xiaomi"},
	{"MiniMax-", "minimax"},
	{"Ling-", "ant-ling"}, {"Ring-", "ant-ling"},
	{"mistral-", "mistral"}, {"ministral-", "mistral"}, {"magistral-", "mistral"},
	{"devstral-", "mistral"}, {"codestral-", "mistral"}, {"pixtral-", "mistral"}, {"voxtral-", "mistral"},
}

// maker returns the provider that makes the model of this bare name, or "".
func maker(name string) string {
	for _, m := range makers {
		if strings.HasPrefix(name, m.prefix) {
			return m.provider
		}
	}
	return ""
}
