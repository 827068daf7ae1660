package redact

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// TestJoints: the parts of a token are found whatever lies between them, and what only follows a token stays.
func TestJoints(t *testing.T) {
	r := mustNew(Options{})
	parts := []string{"sk-ant-api03-q8Zr2LmX0vB7kd9", "2pW7xJm4TnY6sHc1aUeLfKoPi9d8", "b7c6a1e2f4d3c8b7aX9q8Zr2LmX0"}
	for _, c := range []string{
		"$\n$\n$", "$\r\n$\r\n$", "    $\n    $\n    $", "+$\n+$\n+$", "> $\n> $\n> $", "# $\n# $\n# $", " * $\n * $\n * $",
		"     9\t$\n    10\t$\n    11\t$", "  9→$\n 10→$\n 11→$", "9:$\n10:$\n11:$", " 9 | $\n10 | $\n11 | $",
		"conf/x.env:3:$\nconf/x.env-4-$\nconf/x.env-5-$", "web-1  | $\nweb-1  | $\nweb-1  | $",
		"2026-03-04T05:06:07.1Z stdout F $\n2026-03-04T05:06:08.2Z stdout F $\n2026-03-04T05:06:08.3Z stdout F $",
		"│ $ │\n│ $ │\n│ $ │", "| tok | $ |\n|     | $ |\n|     | $ |", "$\\\n      $\\\n      $", "$`\n$`\n$", "$=\n$=\n$",
		`k = "$" + "$" + "$"`, "k = '$'\n  + '$'\n  + '$';", "k = (\n  \"$\"\n  \"$\"\n  \"$\"\n)", `k = f"$" f"$" f"$"`,
		`k = "".join(["$", "$", "$"])`, "{\"lines\": [\n  \"$\",\n  \"$\",\n  \"$\"\n]}", `k = "$" .. "$" .. "$"`, `s << "$" << "$" << "$";`,
		"k += \"$\"\nk += \"$\"\nk += \"$\"", "b.append(\"$\");\nb.append(\"$\");\nb.append(\"$\");", "A=$\nB=$\nC=$",
		"data: {\"delta\":{\"text\":\"$\"}}\n\ndata: {\"delta\":{\"text\":\"$\"}}\n\ndata: {\"delta\":{\"text\":\"$\"}}",
		"event: delta\ndata: {\"text\":\"$\"}\n\nevent: delta\ndata: {\"text\":\"$\"}\n\nevent: delta\ndata: {\"text\":\"$\"}",
		"<code>$<br>$<br>$</code>", "$...$...$", "$…$…$", "k: >-\n  $\n  $\n  $",
	} {
		text, n := c, 0
		for ; strings.Contains(text, "$"); n++ {
			text = strings.Replace(text, "$", parts[n], 1)
		}
		left := r.Text("it is:\n" + text + "\nand so on")
		for _, part := range parts {
			if strings.Contains(left, part) {
				t.Errorf("%q: %q is left in %q", c, part, left)
			}
		}
	}
	for _, after := range []string{
		"$\nThe next line is a sentence", "k = \"$\"\nregion = \"eu-central-1\"", `["$", "upload_to_the_bucket"]`,
		"A=$\nB=development", "web-1 | $\nweb-1 | listening on port 8080", "$... and so on", "$\n[redacted:token-1]",
	} {
		text := strings.Replace(after, "$", parts[0], 1)
		if left := r.Text(text); !strings.HasSuffix(left, after[strings.Index(after, "$")+1:]) {
			t.Errorf("%q changes to %q", text, left)
		}
	}
}

// TestDumps: a secret in a dump is taken out of both of its columns.
func TestDumps(t *testing.T) {
	r := mustNew(Options{})
	for _, dump := range []string{
		"00000000: 413d 310a 544f 4b45 4e3d 6768 705f 7138  A=1.TOKEN=ghp_q8\n" +
			"00000010: 5a72 324c 6d58 3076 4237 6b64 3932 7057  Zr2LmX0vB7kd92pW\n" +
			"00000020: 3778 4a6d 3454 6e59 3673 4863 3161 5565  7xJm4TnY6sHc1aUe\n" +
			"00000030: 4c66 0a                                  Lf.",
		"00000000  41 3d 31 0a 54 4f 4b 45  4e 3d 67 68 70 5f 71 38  |A=1.TOKEN=ghp_q8|\n" +
			"00000010  5a 72 32 4c 6d 58 30 76  42 37 6b 64 39 32 70 57  |Zr2LmX0vB7kd92pW|\n" +
			"00000020  37 78 4a 6d 34 54 6e 59  36 73 48 63 31 61 55 65  |7xJm4TnY6sHc1aUe|\n" +
			"00000030  4c 66 0a                                          |Lf.|",
		"0000000 41 3d 31 0a 54 4f 4b 45 4e 3d 67 68 70 5f 71 38\n" +
			"0000020 5a 72 32 4c 6d 58 30 76 42 37 6b 64 39 32 70 57\n" +
			"0000040 37 78 4a 6d 34 54 6e 59 36 73 48 63 31 61 55 65\n" +
			"0000060 4c 66 0a",
	} {
		left := r.Text("$ dump .env\n" + dump + "\n$ ")
		for _, part := range []string{"Zr2LmX0vB7kd92pW", "7xJm4TnY6sHc1aUe", "5a72", "5a 72", "4c66", "4c 66"} {
			if strings.Contains(left, part) {
				t.Errorf("%q is left in %s", part, left)
			}
		}
		if !strings.Contains(left, "41 3d") && !strings.Contains(left, "413d") {
			t.Errorf("what is no secret is gone from %s", left)
		}
	}
	plain := "00000000  41 3d 31 0a 54 4f 4b 45  4e 3d 31 32 33 34 35 36  |A=1.TOKEN=123456|\n"
	if left := r.Text(plain); left != plain {
		t.Errorf("%q changes to %q", plain, left)
	}
}

// TestFramed: all lines of a key are found at once, each in an object or a command of its own, and from its last line
// too: not one at a time, of which there is a limit.
func TestFramed(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{
		Type: "PRIVATE KEY", Bytes: must.Get(x509.MarshalPKCS8PrivateKey(must.Get(rsa.GenerateKey(rand.Reader, 2048)))),
	}))), "\n")
	for _, frame := range []string{
		`{"log": "$\n", "stream": "stdout"}`, `{"stream":"stderr","message":"$","pod":"web-1"}`, "echo '$' >> /etc/app/server.pem",
		`<line no="1"><![CDATA[$]]></line>`, `(stdout) writer.write("$\r\n", encoding="ascii", flush=True)`,
	} {
		for from := range 2 {
			var text []string
			for _, line := range lines[from:] {
				text = append(text, strings.ReplaceAll(frame, "$", line))
			}
			line := must.Get(json.Marshal(map[string]any{"type": "message", "id": "a1b2c3d4", "message": map[string]any{
				"role": "user", "content": strings.Join(text, "\n")}}))
			is, err := filtered(mustNew(Options{}), bytes.NewReader(append(line, '\n')))
			if err != nil {
				t.Errorf("%s, from line %d: %v", frame, from, err)
			}
			for k, line := range lines[1 : len(lines)-1] {
				if len(line) > 40 && bytes.Contains(is, []byte(line)) {
					t.Errorf("%s, from line %d: line %d is left", frame, from, k)
				}
			}
		}
	}
}
