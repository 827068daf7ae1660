package origin

// Redact redacts the texts of a [File], a [Change] or a [Remains].
func Redact(found any, text func(string) string) {
	set := func(of ...*string) {
		for _, s := range of {
			*s = text(*s)
		}
	}
	shared := func(calls []Call, sessions []Session, commits []Commit) {
		for i := range calls {
			set(&calls[i].File, &calls[i].Prompt)
		}
		for i := range sessions {
			set(&sessions[i].Ref, &sessions[i].File, &sessions[i].Title)
		}
		for i := range commits {
			set(&commits[i].Author, &commits[i].Subject)
		}
	}
	switch f := found.(type) {
	case *File:
		shared(f.Calls, f.Sessions, f.Commits)
		set(&f.File)
		for i := range f.Lines {
			set(&f.Lines[i].Text, &f.Lines[i].Was, &f.Lines[i].Changed)
		}
	case *Change:
		shared(f.Calls, f.Sessions, f.Commits)
		for i := range f.Files {
			set(&f.Files[i].File)
		}
	case *Remains:
		for i := range f.Files {
			set(&f.Files[i].File)
		}
	}
}
