package transcript

import (
	"path"
	"strings"
)

// Touching leaves only the turns of a conversation in which a file was changed that
// one of the names stands for: a path or its end, a folder, or a pattern.
func (c *Conversation) Touching(names []string) error {
	only := map[int]bool{}
	for _, blocks := range c.Chapters() {
		for b, err := range blocks(nil, false) {
			if err != nil {
				return err
			}
			if b.Kind == Call && b.Call.Change != Reads && stands(names, b.Call.Path) {
				only[b.Turn] = true
			}
		}
	}
	c.only = only
	return nil
}

// stands reports that one of the names stands for a file.
func stands(names []string, file string) bool {
	file = strings.ReplaceAll(file, "\\", "/")
	for _, name := range names {
		name = strings.TrimSuffix(strings.ReplaceAll(path.Clean(name), "\\", "/"), "/")
		if file == name || strings.HasSuffix(file, "/"+name) || strings.HasPrefix(file, name+"/") || strings.Contains(file, "/"+name+"/") {
			return true
		}
		if ok, _ := path.Match(name, file); ok {
			return true
		}
		if ok, _ := path.Match(name, path.Base(file)); ok {
			return true
		}
	}
	return false
}
