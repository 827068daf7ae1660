package notes

import (
	"strings"
	"testing"
)

const first = `# Session Memory: 2026-01-01

## Project: app

### Current Goal
Add a login.

### Key Decisions
- Use JWT instead of sessions. (decided 2026-01-01 10:00)

### Files Modified
- ` + "`auth.go`" + ` (created) - Add login
- ` + "`go.mod`" + ` (updated) - Add jwt

### Open Issues
- [ ] ` + "`go test`" + ` failed (exit 1): no such file
- [ ] Write a page for admins
`

const second = `# Session Memory: 2026-01-02

## Project: app

### Current Goal
Add a logout.

### Files Modified
- ` + "`auth.go`" + ` (updated) - Add logout
- ` + "`page.go`" + ` (created) - Add page

### Open Issues
- [ ] Rotate the keys

### Code Patterns Discovered
- ` + "`auth.go:12`" + ` - checks the token
`

// TestUpdate: a later session is folded in, what it settled goes, and the same again changes
// nothing.
func TestUpdate(t *testing.T) {
	settled := func(issue string) bool { return issue == "go test" }
	got := Update(Update("", first, nil), second, settled)
	want := `# Session Memory: 2026-01-02

## Project: app

### Current Goal
Add a logout.

### Key Decisions
- Use JWT instead of sessions. (decided 2026-01-01 10:00)

### Files Modified
- ` + "`auth.go`" + ` (created) - Add logout
- ` + "`go.mod`" + ` (updated) - Add jwt
- ` + "`page.go`" + ` (created) - Add page

### Open Issues
- [ ] Write a page for admins
- [ ] Rotate the keys

### Code Patterns Discovered
- ` + "`auth.go:12`" + ` - checks the token
`
	if text, _, _ := strings.Cut(got, "\n"+markStart); text != want {
		t.Errorf("updated:\n%s\nwant:\n%s", text, want)
	}
	if again := Update(got, second, settled); again != got {
		t.Errorf("the second update makes of\n%s\nthis:\n%s", got, again)
	}
}

// TestUpdateKeeps: what a person wrote or changed stays, wherever it is.
func TestUpdateKeeps(t *testing.T) {
	theirs := []string{
		"Mine, above all.", "Add a login, with SSO.", "- Ask Ann about Redis", "- [x] Write a page for admins",
		"- `auth.go` (created) - the only place that reads tokens", "### Staging", "```\n# not a heading\n```", "  indented under an item",
	}
	edited := strings.NewReplacer(
		"# Session Memory", theirs[0]+"\n\n# Session Memory",
		"Add a login.", theirs[1],
		"### Files Modified", theirs[2]+"\n"+theirs[7]+"\n\n### Files Modified",
		"- `auth.go` (created) - Add login", theirs[4],
		"- [ ] Write a page for admins", theirs[3],
		"### Open Issues", theirs[5]+"\n"+theirs[6]+"\n\n### Open Issues",
	).Replace(Update("", first, nil))
	got := Update(edited, second, func(string) bool { return true })
	at := 0
	for _, line := range []string{theirs[0], theirs[1], theirs[2], theirs[7], theirs[4], theirs[5], theirs[6], theirs[3]} {
		next := strings.Index(got[at:], line)
		if next < 0 {
			t.Errorf("%q is gone, or has moved:\n%s", line, got)
			continue
		}
		at += next
	}
	for _, gone := range []string{"Add a logout.\n", "Add logout", "- [ ] Write a page"} {
		if strings.Contains(got, gone) {
			t.Errorf("%q is there:\n%s", gone, got)
		}
	}
	if again := Update(got, second, nil); again != got {
		t.Errorf("the second update makes of\n%s\nthis:\n%s", got, again)
	}
}

// TestUpdateForeign: notes without marks are a person's; nothing of them changes but the date.
func TestUpdateForeign(t *testing.T) {
	got := Update(first, second, func(string) bool { return true })
	for line := range strings.Lines(first) {
		if !strings.Contains(got, line) && !strings.HasPrefix(line, title) {
			t.Errorf("%q is gone:\n%s", line, got)
		}
	}
	if !strings.Contains(got, "- [ ] Rotate the keys\n") || !strings.HasPrefix(got, title+"2026-01-02") {
		t.Errorf("nothing was added:\n%s", got)
	}
}

// TestUpdateShortens: a section keeps the last lines of ours, and what the last session says.
func TestUpdateShortens(t *testing.T) {
	text, line := "", func(i int) string { return strings.Repeat("i", i+1) }
	for i := range 3 * mostKept {
		text = Update(text, "### Key Decisions\n- kept\n- "+line(i)+"\n", nil)
	}
	if n := strings.Count(text, "\n- "); n != mostKept || !strings.Contains(text, "- kept\n") || !strings.Contains(text, "- "+line(3*mostKept-1)+"\n") {
		t.Errorf("%d lines:\n%s", n, text)
	}
}
