package prompt

import (
	"strings"
	"testing"
)

const (
	listed = "The following skills provide specialized instructions for specific tasks.\nRead them.\n\n<available_skills>\n" +
		"  <skill>\n    <name>review</name>\n    <description>Reviews &lt;code&gt;</description>\n    <location>/s/review/SKILL.md</location>\n  </skill>\n" +
		"  <skill>\n    <name>mara&apos;s</name>\n    <description></description>\n    <location>/s/m/SKILL.md</location>\n  </skill>\n</available_skills>"
	inTags = "<project_context>\n\nProject-specific:\n\n<project_instructions path=\"/w/AGENTS.md\">\n# App\n\nCurrent working directory: /x\n<skills>\n</project_instructions>\n\n" +
		"<project_instructions path=\"/w/a/AGENTS.md\">\nAvailable tools:\nnone\n</project_instructions>\n\n</project_context>\n"
	inHeadings = "# Project Context\n\nProject-specific instructions and guidelines:\n\n## /w/AGENTS.md\n\n# App\n\n## Style\n\nGuidelines:\nnone\n## /not/after a line\n\n\n\n" +
		"## C:\\w\\AGENTS.md\n\nmore\n\n"
	upper3 = "You are an agent.\n\nAvailable tools:\n- read: Read\n\nGuidelines:\n- Be brief\n\nPi documentation (when asked):\n- Main: /pi\n- More"
)

// Prompts as pi has written them, with the names of what they are split into.
var prompts = []struct{ name, text, want string }{
	{"in headings", upper3 + "\n\nAlso say please.\n\nTwice.\n\n" + inHeadings + "\n\n" + listed + "\nCurrent date: 2026-01-31\nCurrent working directory: /w",
		"preamble|tools|guidelines|docs|addendum|project_context|file /w/AGENTS.md|file C:\\w\\AGENTS.md|skills|skill review|skill mara's|skills|date|cwd"},
	{"with a time", "You.\n\nAvailable tools:\n- read\n\nDocumentation:\n- Main\nCurrent date and time: Monday\nCurrent working directory: /w", "preamble|tools|docs|date|cwd"},
	{"in headings and tags", upper3 + "\n\n" + inTags + "\n\n" + listed + "\nCurrent working directory: /w",
		"preamble|tools|guidelines|docs|project_context|file /w/AGENTS.md|file /w/a/AGENTS.md|project_context|skills|skill review|skill mara's|skills|cwd"},
	{"a prompt of the user's own", "Be a poet.\n\n" + inTags + "\nCurrent working directory: /w", "preamble|project_context|file /w/AGENTS.md|file /w/a/AGENTS.md|project_context|cwd"},
	{"something after it", "Be a poet.\nCurrent working directory: /w\n\nAn extension.", "preamble|cwd|base"},
	{"in tags", "You.\n\n<tools>\n- read\n</tools>\n\n<rules>\n- a\n</rules>\n\n" + inTags[:len(inTags)-1] + "\n\n<skills>\n" + listed + "\n</skills>\n\n<cwd>\n/w\n</cwd>\n\n<mine>\nx\n</mine>",
		"preamble|tools|rules|project_context|file /w/AGENTS.md|file /w/a/AGENTS.md|project_context|skills|skill review|skill mara's|skills|cwd|mine"},
	{"in tags, and more", "<tools>\n- read\n</tools>\n\n<cwd>\n/w\n</cwd>\n\nAn extension.", "tools|cwd|base"},
	{"neither", "You are a poet.\n\nGuidelines:\nnone\n", "base"},
	{"nothing", "", "base"},
}

// TestSplit: a prompt in one text is taken apart at pi's marks, and nothing of it is lost.
func TestSplit(t *testing.T) {
	for _, p := range prompts {
		all := Split([]Part{{Name: "base", Text: p.text}})
		var got []string
		for _, part := range all {
			got = append(got, part.Name)
		}
		if strings.Join(got, "|") != p.want {
			t.Errorf("%s: %s, want %s", p.name, strings.Join(got, "|"), p.want)
		}
		if joined(all) != p.text {
			t.Errorf("%s: the parts joined are another text", p.name)
		}
	}
}

// TestSplitParts: sections of their own are split too, and what others have not.
func TestSplitParts(t *testing.T) {
	all := Split([]Part{{Name: "content", Text: "hello", Content: true}, {Name: "skills", Text: "<skills>\n" + listed + "\n</skills>"}, {Name: "policy", Text: listed}})
	var got []string
	for _, p := range all {
		got = append(got, p.Name+"="+p.Skill+"="+p.File)
	}
	want := "content== skills== skill review=review=/s/review/SKILL.md skill mara's=mara's=/s/m/SKILL.md skills== policy=="
	if strings.Join(got, " ") != want || !all[0].Content {
		t.Errorf("%q, want %q", strings.Join(got, " "), want)
	}
}

func joined(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// FuzzSplit: whatever the text is, what it is split into is the text.
func FuzzSplit(f *testing.F) {
	for _, p := range prompts {
		f.Add("base", p.text)
	}
	f.Add("skills", "<skills>\n"+listed)
	f.Add("project_context", inTags)
	f.Fuzz(func(t *testing.T, name, text string) {
		all := Split([]Part{{Name: name, Text: text}})
		if joined(all) != text {
			t.Fatalf("%q is split into %q", text, joined(all))
		}
		for _, p := range all {
			if p.Text == "" && text != "" {
				t.Fatalf("an empty part %q of %q", p.Name, text)
			}
		}
	})
}
