package activity

import (
	"slices"
	"testing"
)

func TestDefinitions(t *testing.T) {
	code := "func Plain(a int) {\n\tfunc inner() {}\nfunc (q *Queue) Drain() {\ntype Queue struct {\nexport default async function loadAll() {\n" +
		"export class UserStore {\ndef validate_user(name):\npub fn parse(text: &str) {\nconst answer = 42\nfunc Do() {\n"
	want := []string{"Plain()", "Drain()", "Queue", "loadAll()", "UserStore", "validate_user()", "parse()"}
	if got := slices.Collect(Definitions(code)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReferences(t *testing.T) {
	text := "See `api/auth.py:15` and (sts/sts.go:268-270), models/user.py:validate_user(). Not 12:30, http://a.go:80, a.go:x, b.go:0."
	want := []string{"api/auth.py:15", "sts/sts.go:268-270", "models/user.py:validate_user()"}
	if got := slices.Collect(References(text)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDependencies(t *testing.T) {
	for _, test := range []struct {
		base, text string
		want       []string
	}{
		{"go.mod", "module m\n\nrequire one.org/a v1.0.0\n\nrequire (\n\ttwo.org/b v2.1.0\n\tthree.org/c v0.1.0 // indirect\n)\n", []string{"one.org/a", "two.org/b"}},
		{"package.json", "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"test\": \"jest\"\n  },\n  \"dependencies\": {\n    \"@a/b\": \"^1\",\n    \"c\": \"2\"\n  }\n}", []string{"@a/b", "c"}},
		{"requirements.txt", "# all\nFastAPI==0.1\nredis\n-r more.txt\nuvicorn[standard]>=1 ; python_version > '3'\n", []string{"FastAPI", "redis", "uvicorn"}},
		{"Cargo.toml", "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\n", []string{"serde"}},
	} {
		if got := Dependencies(test.base, test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.base, got, test.want)
		}
	}
	if Manifest("main.go") {
		t.Error("main.go is a manifest")
	}
}
