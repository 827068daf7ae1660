package redact

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names of our own rules, as in placeholders and reports.
const (
	ruleEmail = "email"
	ruleValue = "value"
	ruleHome  = "home"

	ruleGeneric = "generic-api-key"     // see table_rules.go
	ruleShape   = "token"               // of no provider that a rule names
	ruleCommand = "command-line-secret" // see table_commands.go
	ruleKey     = "private-key"         // also one of gitleaks'
	rulePhrase  = "mnemonic"
)

// email finds the address around the @ at text[at], if there is one. The login of git at a host
// is not an address, and neither is another user in a URL.
func email(text []byte, at int) (start, end int, ok bool) {
	start, end = at, at+1
	for start > 0 && at-start < 64 && (isName(text[start-1]) || text[start-1] == '%' || text[start-1] == '+') {
		start--
	}
	for start < at && (text[start] == '.' || text[start] == '-') {
		start++
	}
	dot := 0 // where the last label begins
	for end < len(text) && end-at < 254 && (isLetter(text[end]) || text[end]-'0' < 10 || text[end] == '-' ||
		text[end] == '.') {
		if text[end] == '.' {
			if end == at+1 || text[end-1] == '.' || end+1 == len(text) ||
				!isLetter(text[end+1]) && text[end+1]-'0' >= 10 {
				break
			}
			dot = end + 1
		}
		end++
	}
	for end > dot && text[end-1] == '-' {
		end--
	}
	if start == at || dot == 0 || end-dot < 2 ||
		bytes.ContainsFunc(text[dot:end], func(r rune) bool { return r < utf8.RuneSelf && !isLetter(byte(r)) }) {
		return 0, 0, false
	}
	return start, end, string(text[start:at]) != "git" && !inURL(text, at) &&
		!unitEnds[string(lowered(text[dot:end]))] && !isMessageID(text, start) && !isReserved(text[at+1:end])
}

// reservedEnds are the last labels of names that are kept for documentation and tests, or for networks at home
// (RFC 2606, 2; RFC 6761, 6; RFC 8375).
var reservedEnds = wordSet("example test invalid localhost lan arpa")

// reservedHosts are names without mailboxes: of documentation (RFC 2606, 3), and those that follow the
// names of methods in SSH (RFC 4251, 6).
var reservedHosts = wordSet("example.com example.net example.org openssh.com libssh.org")

// isReserved reports whether a host is one that no address of a person has.
func isReserved(host []byte) bool {
	name := strings.ToLower(string(host))
	last := strings.LastIndexByte(name, '.') + 1
	first := strings.LastIndexByte(name[:max(0, last-1)], '.') + 1
	return reservedEnds[name[last:]] || reservedHosts[name[first:]]
}

// unitEnds are the ends of names of units of systemd, which have an @ before their instance (systemd.unit(5)).
var unitEnds = wordSet("service socket timer mount target slice scope device swap automount")

// messageIDs are the headers of mails whose values look like addresses and are the ids of mails (RFC 5322, 3.6.4).
var messageIDs = strings.Fields("message-id references in-reply-to content-id")

// isMessageID reports whether the address that begins at text[start] is the id of a mail, or follows one in its line.
func isMessageID(text []byte, start int) bool {
	if start == 0 || text[start-1] != '<' {
		return false
	}
	line := text[max(0, start-longestRow):start]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	name, _, ok := bytes.Cut(line, []byte{':'})
	return ok && slices.ContainsFunc(messageIDs, func(header string) bool {
		return len(name) >= len(header) && hasFolded(name[len(name)-len(header):], header)
	})
}

// inURL reports whether text[at] ends the user part of a URL.
func inURL(text []byte, at int) bool {
	start := max(0, at-320)
	start += bytes.LastIndexAny(text[start:at], " \t\r\n/\"'<>\\") + 1
	return bytes.HasSuffix(text[:start], []byte("://"))
}

func isLetter(c byte) bool { return c|0x20-'a' < 26 || c >= utf8.RuneSelf }

// homeWords precede the name of a home directory. pi names folders after paths with slashes
// replaced by dashes.
var homeWords = []string{"/home/", "/users/", `\users\`, "--home-", "--users-", "-users-"}

// home finds a person's name in a path: text[end:] follows one of homeWords, which begins at
// start. known reports whether a name was found before.
func home(text []byte, start, end int, known func(name []byte) bool) (from, to int, ok bool) {
	slash := text[start]
	if slash == '-' {
		return folderHome(text, start, end, known)
	}
	if string(text[start:end]) == "/users/" && !drive(text, start) {
		return 0, 0, false // part of a URL
	}
	for end < len(text) && text[end] == slash { // doubled in quoted text
		end++
	}
	from, to = end, end
	for to < len(text) && isName(text[to]) {
		to++
	}
	if slash == '\\' || drive(text, start) {
		if n := bytes.IndexAny(text[to:min(len(text), to+40)], `\/"'<>|:*?`+"\n"); n > 0 && (text[to+n] == '\\' ||
			text[to+n] == '/') && text[to] == ' ' {
			to += n // a name of several words, followed by more of the path
		}
	}
	for to > from && (text[to-1] == '.' || text[to-1] == '-') {
		to--
	}
	if from == to || isPerson(text[from:to]) {
		return 0, 0, false
	}
	return from, to, slash == '\\' || rooted(text, start) || known(text[from:to])
}

// folderHome is home for pi's folders. A dash may be part of a name that was found before.
func folderHome(text []byte, start, end int, known func(name []byte) bool) (from, to int, ok bool) {
	if text[start+1] != '-' { // "-users-": after a drive or another folder
		if start < 3 || text[start-1] != '-' || !isLetter(text[start-2]) || text[start-3] != '-' {
			return 0, 0, false
		}
	}
	from, to = end, end
	longest := 0
	for ; to < len(text) && to-from < 64 && (isName(text[to])); to++ {
		if text[to] == '-' && (longest == 0 || known(text[from:to])) {
			longest = to
		}
	}
	if longest == 0 {
		longest = to
	}
	if from == longest || isPerson(text[from:longest]) || user(text[from:]) > 0 {
		return 0, 0, false
	}
	return from, longest, true
}

// drive reports whether a Windows drive precedes text[at:].
func drive(text []byte, at int) bool {
	switch {
	case at >= 2 && text[at-1] == ':' && isLetter(text[at-2]):
		return at == 2 || !isLetter(text[at-3])
	case at >= 2 && text[at-2] == '/' && isLetter(text[at-1]): // /c/users
		return at == 2 || !isName(text[at-3]) || bytes.HasSuffix(text[:at-2], []byte("/mnt")) ||
			bytes.HasSuffix(text[:at-2], []byte("/cygdrive"))
	}
	return false
}

// rooted reports whether the path that contains text[at:] begins at the root of a file system,
// rather than in a project or a URL.
func rooted(text []byte, at int) bool {
	if drive(text, at) {
		return true
	}
	start := at
	for start > 0 && at-start < 256 && (isName(text[start-1]) || text[start-1] == '/' || text[start-1] == '+' ||
		text[start-1] == '@') {
		start--
	}
	if text[start] != '/' {
		return false
	}
	before := string(text[max(0, start-6):start])
	return start == at || !bytes.HasPrefix(text[start:], []byte("//")) ||
		!strings.HasSuffix(before, "http:") && !strings.HasSuffix(before, "https:")
}

func isName(c byte) bool { return inName[c] }

// inName are the characters of the names of persons and files.
var inName = func() (t [256]bool) {
	for c := range t {
		t[c] = isLetter(byte(c)) || byte(c)-'0' < 10 || c == '_' || c == '.' || c == '-'
	}
	return t
}()

// isPerson reports whether a name is not a placeholder of ours.
func isPerson(name []byte) bool { return user(name) == len(name) }

// user returns the length of the name placeholder at the start of b, 0 for none.
func user(b []byte) int {
	rest, ok := bytes.CutPrefix(b, []byte("user-"))
	if n := digits(rest); ok && n > 0 {
		return len("user-") + n
	}
	return 0
}

func digits(b []byte) (n int) {
	for n < len(b) && b[n]-'0' < 10 {
		n++
	}
	return n
}

// keyLine is how long a line of a key's data is at least, except for the last one.
const keyLine = 40

// keyLines adds the data of a private key by one of its end lines or by how it begins. Its lines
// may be indented, numbered, quoted or literals of source code. Heads before text[done] were
// searched already.
func (s *Scanner) keyLines(dst []hit, text []byte, f foundUse, done int) ([]hit, int) {
	start, end := 0, 0
	switch f.use.kind {
	case useKeyHead:
		head := s.r.heads[f.use.rule]
		start = f.at - strings.LastIndexByte(head, '?') - 1
		if start < done || !like(text[start:], head) || start > 0 &&
			inBase64(text[start-1]) && text[start-1] != '=' && !escapes(text, start) &&
			!marked(text, start) {
			return dst, done
		}
		_, end = dataLines(text, start)
	default:
		after := f.at + f.use.size
		label := text[after:min(len(text), after+64)]
		at := bytes.Index(label, []byte("PRIVATE KEY"))
		if at < 0 {
			at = bytes.Index(label, []byte("OpenVPN Static key"))
		}
		n := bytes.Index(label, []byte("-----"))
		if at < 0 || n < at {
			return dst, done
		}
		if f.use.kind == useKeyBegin {
			start, end = dataLines(text, after+n+5)
		} else {
			start, end = linesBefore(text, f.at)
		}
	}
	if end-start < keyLine {
		return dst, max(done, end)
	}
	return append(dst, hit{rule: s.r.key, start: start, end: end, value: string(text[start:end])}), max(done, end)
}

// like reports whether a text begins with a head, in which ? is any character.
func like(text []byte, head string) bool {
	for i := range len(head) {
		if i == len(text) || head[i] != '?' && text[i] != head[i] {
			return false
		}
	}
	return true
}

func inBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// escapes reports whether text[at-1] is the last character of an escape such as \n or \u003c.
func escapes(text []byte, at int) bool {
	return at > 1 && text[at-2] == '\\' || at > 5 && text[at-6] == '\\' && text[at-5] == 'u'
}

// afterNumber reports whether text[at-1] ends the escape of a character by its number, such as \u003c.
func afterNumber(text []byte, at int) bool {
	if at < 6 {
		return false
	}
	_, ok := jsonHex(text[at-6:])
	return ok
}

// marked reports whether text[at-1] is a sign of a diff.
func marked(text []byte, at int) bool {
	return (text[at-1] == '+' || text[at-1] == '-') && (at == 1 || text[at-2] == '\n' ||
		at > 2 && text[at-2] == 'n' && text[at-3] == '\\')
}

// keyFiles are words of the names of files with private keys.
var keyFiles = automatonOf(".key -key.pem _key.pem privkey private id_rsa id_ed25519 id_ecdsa id_dsa .ppk")

// keyFile reports whether the line before the one at text[start:] prints a file with a private key, of which lines are
// shown without its first and last.
func (s *Scanner) keyFile(text []byte, start int) bool {
	line, _ := lineAround(text, start)
	if line == 0 {
		return false
	}
	from, to := lineAround(text, line-1)
	s.read += to - from
	found := false
	keyFiles().from(text[from:to], 0, 0, func(int32, int) { found = true })
	return found && !bytes.Contains(text[from:to], []byte("BEGIN")) && !bytes.Contains(text[from:to], []byte(".pub"))
}

// longestHeader is how many bytes lie before the data of a key, such as its encryption.
const longestHeader = 256

// dataLines returns where lines of data begin and end, from text[at] on.
func dataLines(text []byte, at int) (start, end int) {
	start, end = at, at
	last := false // the line before is framed like this one, which may be short
	for gap, most := 0, longestHeader; at < len(text) && gap < most; {
		if !inBase64(text[at]) || at > 0 && text[at-1] == '\\' {
			if bytes.HasPrefix(text[at:], []byte("-----")) {
				break
			}
			at++
			gap++
			continue
		}
		next := at
		for next < len(text) && inBase64(text[next]) {
			next++
		}
		n := next - at
		switch {
		case n >= keyLine && end == start:
			start, end, gap, most = at, next, 0, longestJoint
		case n >= keyLine:
			end, gap = next, 0
		case end > start && (text[next-1] == '=' || last && n > 3 ||
			n > 3 && bytes.Contains(text[next:min(len(text), next+longestJoint)], []byte("-----END"))):
			return start, next
		case n >= minPart && end > start:
			return start, end
		default:
			gap += n
		}
		if at, last = framed(text, at, next); !last {
			at = next
		}
	}
	return start, end
}

// framed returns where the next line has what text[start:end] is in its own: both have the same before and after it, as
// in {"log": "...", "stream": "stdout"}.
func framed(text []byte, start, end int) (next int, ok bool) {
	if end-start < keyLine {
		return end, false
	}
	from, tail := max(0, start-longestMargin), text[end:min(len(text), end+longestBetween)]
	margin := text[from+bytes.LastIndexByte(text[from:start], '\n')+1 : start]
	n := bytes.IndexByte(tail, '\n')
	if n < 0 || n == 0 && len(margin) < minPart || len(margin) == 0 {
		return end, false
	}
	tail, next = tail[:n], end+n+1
	size, all := alike(margin, text[next:])
	next += size
	for end = next; end < len(text) && inBase64(text[end]); end++ {
	}
	return next, all && end > next && bytes.HasPrefix(text[end:], tail)
}

// linesBefore returns where the lines of data before text[at] begin and end.
func linesBefore(text []byte, at int) (start, end int) {
	start, end = at, 0
	for i, gap := at, 0; i > 0 && gap < longestJoint; {
		if c := text[i-1]; !inBase64(c) || escapes(text, i) {
			if bytes.HasSuffix(text[:i], []byte("-----")) {
				break
			}
			i--
			gap++
			continue
		}
		last := i
		for i > 0 && inBase64(text[i-1]) && !escapes(text, i) {
			i--
		}
		switch n := last - i; {
		case n >= keyLine || end == 0 && (n > 3 || text[last-1] == '='):
			start, gap = i, 0
			if end == 0 {
				end = last
			}
		case n >= minPart:
			return start, max(start, end)
		default:
			gap += n
		}
	}
	return start, max(start, end)
}
