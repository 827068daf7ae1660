package migrate

import (
	"strings"
	"testing"
)

// Lines that several tests have in common.
const (
	head1 = `{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`
	head2 = `{"type":"session","version":2,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`
	head3 = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`

	userA = `{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"A"}}`
	userB = `{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"B"}}`
	userC = `{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"C"}}`
)

// A rule is a piece of a file, and what migrating makes of it.
type rule struct {
	name   string
	opt    Options
	in     []string
	out    []string // nil: the file is current
	left   []string // the quarantine
	native []string // beginnings of what Plan.Native says
}

func (tt rule) check(t *testing.T) {
	t.Helper()
	s := open(t, "s.jsonl", []byte(strings.Join(tt.in, "\n")))
	if s == nil {
		t.Fatal("no session")
	}
	r := migrated(t, s, tt.opt)
	if r == nil {
		t.Fatal("refused")
	}
	want := strings.Join(tt.in, "\n")
	if tt.out != nil {
		want = strings.Join(tt.out, "\n") + "\n"
	}
	if string(r.out) != want {
		t.Errorf("out\n%s\nwant\n%s", r.out, want)
	}
	if left := strings.Join(append(tt.left, ""), "\n"); string(r.left) != left {
		t.Errorf("quarantine %q, want %q", r.left, left)
	}
	if r.plan.Current() != (tt.out == nil) {
		t.Errorf("current: %t", r.plan.Current())
	}
	if len(r.plan.Native) != len(tt.native) {
		t.Fatalf("native: %v", r.plan.Native)
	}
	for i, f := range r.plan.Native {
		if why := strings.TrimPrefix(f.Text, "the compaction is not converted: "); !strings.HasPrefix(why, tt.native[i]) {
			t.Errorf("native: %s, want %s", why, tt.native[i])
		}
	}
	r.lawful(t, contexts{})
	r.twice(t, tt.opt)
}

var rules = []rule{
	{
		name: "members of the header of unknown name",
		in:   []string{`{"type":"session","id":"s","cwd":"/w","provider":"p","future":[1.0,1e3,"\u0041\/"],"timestamp":""}`, ""},
		out:  []string{`{"type":"session","id":"s","cwd":"/w","provider":"p","future":[1.0,1e3,"\u0041\/"],"timestamp":"","version":3}`},
	}, {
		name: "a version in its place, white space kept",
		in:   []string{`  { "version" : 2 , "type":"session","id":"s" }` + "\r", userA + "\r", ""},
		out:  []string{`  { "version" : 3 , "type":"session","id":"s" }` + "\r", userA + "\r"},
	}, {
		name: "a version that is a text",
		in:   []string{`{"type":"session","version":"2","id":"s"}`, ""},
		out:  []string{`{"type":"session","version":3,"id":"s"}`},
	}, {
		name: "several headers",
		in:   []string{head1, `{"type":"session","version":1,"id":"t"}`, ""},
		out:  []string{strings.TrimSuffix(head1, "}") + `,"version":3}`, `{"type":"session","version":3,"id":"t"}`},
	}, {
		name: "ids that are there keep their place and get new values",
		in:   []string{head1, `{"type":"custom","parentId":"x","data":{"n":1.50},"id":"y","timestamp":""}`, `{"id":7,"type":"custom"}`, ""},
		out: []string{
			strings.TrimSuffix(head1, "}") + `,"version":3}`,
			`{"type":"custom","parentId":null,"data":{"n":1.50},"id":"959cf223","timestamp":""}`,
			`{"id":"e5e7117e","type":"custom","parentId":"959cf223"}`,
		},
	}, {
		name: "roles, in a message that says more",
		in:   []string{head2, `{"type":"message","id":"h","parentId":null,"message":{"customType":"t", "role" : "hookMessage","content":1.0},"x":{"role":"hookMessage"}}`, ""},
		out:  []string{head3, `{"type":"message","id":"h","parentId":null,"message":{"customType":"t", "role" : "custom","content":1.0},"x":{"role":"hookMessage"}}`},
	}, {
		name: "roles stay in version 2",
		opt:  Options{To: 2},
		in:   []string{head1, `{"type":"message","message":{"role":"hookMessage","content":"H"}}`, ""},
		out: []string{
			strings.TrimSuffix(head1, "}") + `,"version":2}`,
			`{"type":"message","message":{"role":"hookMessage","content":"H"},"id":"a6fbb582","parentId":null}`,
		},
	}, {
		name: "lines that are no entries; blank ones stay",
		in:   []string{"\ufeff" + head2, "", `{"type":"mess`, " \t\r", "null", "42", userA, userB + userC, "[]", `{"torn`},
		out:  []string{head3, "", " \t\r", userA},
		left: []string{"\ufeff", `{"type":"mess`, "null", "42", userB + userC, "[]", `{"torn`},
	}, {
		name: "a last entry without newline",
		in:   []string{head2, userA},
		out:  []string{head3, userA},
	}, {
		name: "a current file stays, its broken lines too",
		in:   []string{"\ufeff" + head3, "broken", "7", userA},
	}, {
		name: "a newer version than asked for stays",
		opt:  Options{To: 2},
		in:   []string{head3, userA, ""},
	}, {
		name: "bytes that are not UTF-8",
		in:   []string{head2, "{\"type\":\"message\",\"id\":\"a\xff\",\"parentId\":null,\"message\":{\"role\":\"hookMessage\",\"content\":\"\xff\"}}", ""},
		out:  []string{head3, "{\"type\":\"message\",\"id\":\"a\xff\",\"parentId\":null,\"message\":{\"role\":\"custom\",\"content\":\"\xff\"}}"},
	}, {
		name: "auto leaves compactions alone where no patches are",
		in:   []string{head3, userA, `{"type":"compaction","id":"k","parentId":"a","timestamp":"2026-01-01T00:00:04.000Z","summary":"S","firstKeptEntryId":"a"}`, ""},
	},
}

func TestRules(t *testing.T) {
	for _, tt := range rules {
		t.Run(tt.name, tt.check)
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"no header", userA + "\n", "no session header for the version"},
		{"too new", strings.Replace(head3, "3", "4", 1) + "\n", "format version 4 is newer than 3"},
	} {
		s := open(t, "s.jsonl", []byte(tt.in))
		p, err := New(s, Options{})
		if p != nil || err == nil || err.Error() != "s.jsonl: "+tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	s := open(t, "s.jsonl", []byte(head2+"\n"))
	for _, to := range []int{1, 4, -1} {
		if _, err := New(s, Options{To: to}); err == nil {
			t.Errorf("to version %d", to)
		}
	}
}

// TestUnknownCompaction: a form that there is not is refused.
func TestUnknownCompaction(t *testing.T) {
	s := open(t, "s.jsonl", []byte(head2+"\n"))
	for _, form := range append(Compactions, "") {
		if _, err := New(s, Options{Compaction: Compaction(form)}); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
	if _, err := New(s, Options{Compaction: "pairs"}); err == nil {
		t.Error("pairs is none")
	}
}
