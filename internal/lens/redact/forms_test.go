package redact

import (
	"strings"
	"testing"
)

// TestMarkers: each kind with a marker has its source, is found in its example whatever surrounds it, and not in what
// only looks alike.
func TestMarkers(t *testing.T) {
	s := mustNew(Options{}).NewScanner()
	for _, m := range markers {
		if m.Source == "" || m.Not == "" || !strings.Contains(m.Is, m.Marker) {
			t.Errorf("%s has no source, or no examples", m.Marker)
		}
		for _, around := range []string{"%", "x %.", "「%」", "(%)", "\"%\",", "it's\\t%"} {
			text := strings.Replace(around, "%", m.Is, 1)
			found := s.Find([]byte(text))
			if len(found) != 1 || !strings.Contains(text[found[0].Start:found[0].End], m.Is) {
				t.Errorf("%q: found %v", text, found)
			}
		}
		if found := s.Find([]byte(m.Not)); found != nil {
			t.Errorf("%q: found %v", m.Not, found)
		}
	}
}

// TestForms: tokens of an exact form are found, and what differs from it in one respect is not.
func TestForms(t *testing.T) {
	s := mustNew(Options{}).NewScanner()
	uuid := "4f0c0fe2-c4d8-4aa2-ba0b-f1a7c33f3d9c"
	for _, c := range []struct{ is, not string }{
		{"5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", "5hueinternationalizationinternationalizationaboutthe"},
		{"KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn", "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn0"},
		{"cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA", "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcB"}, // its checksum is another
		{"SAV76USXIJOBMEQXPANUOQM6F5LIOTLPDIDVRJBFFE2MDJXG24TAPUU7", "GAV76USXIJOBMEQXPANUOQM6F5LIOTLPDIDVRJBFFE2MDJXG24TAPUU7"},
		{"4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c-4f0c0fe2-9d8b7c6a", "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c-4f0c0fe2"},
		{"11bcde04c8d8aa2ba0b4f1a7c33f3d9c4f", "21bcde04c8d8aa2ba0b4f1a7c33f3d9c4f"},
		{"2aVb8Zr2LmX0vB7kd92pW7xJm4T_6sHc1aUeLfKoPi9d8b7c", "a_module_with_a_long_name_that_ends_in_version_12345"},
		{"00q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi", "00000000000000000000000000000000000000000a"},
		{"4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c.q8Zr2LmX0vB7kd92", "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c.stylesheetpages1"},
		{"4f0c0fe2c4d8aa2ba0b4f1a7:4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "4f0c0fe2c4d8aa2ba0b4f1a7:12"},
		{uuid + ":4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", uuid + ":" + uuid},
		{"17|q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi", "17|a_long_name_in_a_cell"},
		{"xVLyHw.2CnnTg:q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8", "example.method:another_method_with_a_name"},
		{"4f0c0fe2-c4d8-4aa2-ba0bf1a7c33f-3d9c-4f0c", uuid + "-4f0c"},
		{"u4815162-4f0c0fe2c4d8aa2ba0b4f1a7", "update-4f0c0fe2c4d8aa2ba0b4f1a7"},
	} {
		if found := s.Find([]byte("it is " + c.is + ", yes")); len(found) != 1 {
			t.Errorf("%q: found %v", c.is, found)
		}
		if found := s.Find([]byte("it is " + c.not + ", no")); len(found) != 0 {
			t.Errorf("%q: found %v", c.not, found)
		}
	}
}

// TestDataLikeTokens: prefixes of two or three letters begin no token within data in base64, nor before more
// characters than a token has.
func TestDataLikeTokens(t *testing.T) {
	s := mustNew(Options{}).NewScanner()
	body := "q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8b7c6a1e2f4d3c8b7aX9"
	token := "AQ" + body + body + body
	if found := s.Find([]byte("it is " + token + ", yes")); len(found) != 1 {
		t.Errorf("a token: found %v", found)
	}
	for _, data := range []string{"AGFzbQ" + body + "/" + token, "AGFzbQ+" + token, "AQ" + strings.Repeat(body, 40)} {
		if found := s.Find([]byte("it is " + data + ", no")); len(found) != 0 {
			t.Errorf("%.40s: found %v", data, found)
		}
	}
}
