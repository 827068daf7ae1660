package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ctxtool/sessionfmt"
)

// maxCompletions is how many ids are offered at once: a person picks from few.
const maxCompletions = 100

// completeSession completes a SESSION: files, ids of the store, and behind an @
// the points of the session named.
func (e *env) completeSession(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if at := strings.LastIndexByte(typed, '@'); at > 0 {
		var all []string
		for _, p := range e.points(cmd, typed[:at], typed[at+1:]) {
			all = append(all, typed[:at+1]+p)
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	if here, _ := filepath.Glob(e.disk.Path(typed) + "*"); len(here) > 0 && typed != "" || strings.ContainsRune(typed, filepath.Separator) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if e.configure(cmd) != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	files, err := e.store().Files()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	slices.Reverse(files) // names begin with their time
	var ids []string
	for _, f := range files {
		h := e.disk.ReadHeader(f)
		if h.ID != "" && strings.HasPrefix(h.ID, typed) && len(ids) < maxCompletions {
			ids = append(ids, cobra.CompletionWithDesc(h.ID, sessionfmt.Quote(h.CWD+" "+h.Timestamp)))
		}
	}
	if len(ids) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completePoint completes a POINT of the session that the command line names.
func (e *env) completePoint(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []string{"leaf", "root", "request:", "turn:"}, cobra.ShellCompDirectiveNoFileComp
	}
	session, _ := e.disk.SplitPoint(args[0])
	return e.points(cmd, session, typed), cobra.ShellCompDirectiveNoFileComp
}

// completeFiles completes sessions and folders, as many as are wanted.
func (e *env) completeFiles(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return e.completeSession(cmd, nil, typed)
}

// completeEntries completes a SESSION, and behind it so many POINTs of it.
func (e *env) completeEntries(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch n := len(args); {
		case n == 0:
			return e.completeSession(cmd, args, typed)
		case n <= most:
			return e.completePoint(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// points are the points of a session that begin with what is typed: names,
// labels, ids; each with what it says.
func (e *env) points(cmd *cobra.Command, session, typed string) (all []string) {
	if e.configure(cmd) != nil {
		return nil
	}
	name, err := e.store().Locate(session)
	if err != nil || name == "-" {
		return nil
	}
	s, err := sessionfmt.Open(name, sessionfmt.Options{Disk: e.disk})
	if err != nil {
		return nil
	}
	defer s.Close()
	offer := func(point, about string) {
		if strings.HasPrefix(point, typed) && len(all) < maxCompletions && !strings.ContainsAny(point, "\t\n") {
			all = append(all, cobra.CompletionWithDesc(point, about))
		}
	}
	for _, p := range []string{"leaf", "root", "request:", "turn:"} {
		offer(p, "")
	}
	lines := s.NewReader()
	about := func(i int) string {
		line, err := lines.Line(i)
		if err != nil {
			return ""
		}
		return sessionfmt.Quote(s.Kind(i).String() + " " + sessionfmt.Gist(s.Kind(i), line))
	}
	labels, err := s.Labels()
	if err != nil {
		return all
	}
	var names []string
	for name := range labels {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, typed) {
			offer(name, about(labels[name]))
		}
	}
	path, _ := s.Path(s.Leaf())
	for _, i := range slices.Backward(path) {
		if id := s.ID(i); strings.HasPrefix(id, typed) && len(all) < maxCompletions {
			offer(id, about(i))
		}
	}
	return all
}
