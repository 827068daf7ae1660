package origin

import (
	"bytes"
	"encoding/binary"
	"io"
	"path"
	"strings"

	"ctxtool/sessionfmt"
)

// names are names of files without folders, as hashes.
type names map[uint32]bool

func (n names) encode(dst []byte) []byte {
	for h := range n {
		dst = binary.LittleEndian.AppendUint32(dst, h)
	}
	return dst
}

func decodeNames(text string) names {
	n := make(names, len(text)/4)
	for ; len(text) >= 4; text = text[4:] {
		n[binary.LittleEndian.Uint32([]byte(text[:4]))] = true
	}
	return n
}

// hash is FNV-1a.
func hash[T string | []byte](name T) uint32 {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}

// mayHave reports whether the session may have written to a file.
func (d *digest) mayHave(wanted map[string]string) bool {
	for name := range wanted {
		base := path.Base(name)
		if d.names[hash(base)] || d.Known == unknown || d.Known == mentioned && !usual([]byte(base)) {
			return true
		}
	}
	return false
}

// usual reports whether a name has only characters that JSON spells as themselves, and a short ending.
func usual(name []byte) bool {
	dot := bytes.LastIndexByte(name, '.')
	end := name[dot+1:]
	if dot < 0 || len(end) == 0 || len(end) > 5 || len(name) > longest || end[0] < 'a' || end[0] > 'z' {
		return false
	}
	for i, c := range name {
		if !ofName[c] || i > dot && c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// longest is the length of the longest usual name in bytes.
const longest = 128

// ofName are the characters of usual names.
var ofName = func() (set [256]bool) {
	for _, c := range wordLetters + "._-" {
		set[c] = true
	}
	return set
}()

// mentions returns the usual names that a file mentions; ok is false if its bytes are not its text.
func mentions(disk sessionfmt.Disk, name string, buf []byte) (all names, ok bool) {
	f, err := disk.OpenRegular(name)
	if err != nil || !strings.HasSuffix(name, ".jsonl") {
		return nil, false
	}
	defer f.Close()
	all = names{}
	var last [1 << 12]uint32 // hashes, each in its place, since most names are frequent
	add := func(name []byte) {
		if !usual(name) {
			return
		}
		if h := hash(name); last[h%uint32(len(last))] != h {
			last[h%uint32(len(last))] = h
			all[h] = true
		}
	}
	for kept := 0; ; {
		n, err := f.Read(buf[kept:])
		text := buf[:kept+n]
		for at := 0; at < len(text); {
			dot := bytes.IndexByte(text[at:], '.')
			if dot < 0 {
				break
			}
			begin, end := at+dot, at+dot+1
			for begin > at && ofName[text[begin-1]] {
				begin--
			}
			for end < len(text) && ofName[text[end]] {
				end++
			}
			word := bytes.TrimRight(text[begin:end], ".")
			if add(word); begin > 0 && text[begin-1] == '\\' { // of an escape: \n, \u003e
				add(word[min(1, len(word)):])
				add(word[min(len("u003e"), len(word)):])
			}
			at = end
		}
		if err != nil {
			return all, err == io.EOF
		}
		kept = copy(buf, text[max(0, len(text)-2*longest):])
	}
}
