package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"ctxtool/internal/redact"
	"ctxtool/render"
	"ctxtool/sessionfmt"
)

// redactOptions are the flags of ctxtool redact.
type redactOptions struct {
	answer
	redaction
}

func newRedactCommand(e *env) *cobra.Command {
	o := &redactOptions{}
	cmd := &cobra.Command{
		Use:   "redact [flags] SESSION|DIR...",
		Short: "Write sessions without secrets, addresses and user names",
		Long: "Redact sessions, in every string of every line, keys too, however they are spelled.\n" +
			"The same value becomes the same placeholder, [redacted:RULE-N] or user-N, so the\n" +
			"session opens, checks and replays as before.\n\n" +
			"Covered: secrets by the rules of gitleaks, keys with a well-known prefix that an\n" +
			"output cut short, passwords in URLs, e-mail addresses, the names of home directories\n" +
			"in paths, exact values (--values, --env) and rules of your own (--patterns). A secret\n" +
			"of at least 4 bytes that one place shows is replaced wherever it stands in the file.\n" +
			"Signatures and encrypted reasoning go, since nobody can look into them.\n\n" +
			"Not covered: names of people, hosts and projects; secrets that nothing around them\n" +
			"shows as such; placeholders for passwords in URLs (password, $PW); base64 and other\n" +
			"encodings; and images, which stay and are counted, unless --images makes a single\n" +
			"pixel of each.\n\n" +
			"Without -o it prints the plan: what each rule finds, and in which entries, never\n" +
			"the secrets. -o writes the redacted session to FILE, to standard output (-), or\n" +
			"for several sessions into a folder. Each line is looked through again as it is\n" +
			"written, and the result is opened: what is left of a secret fails the run.\n\n" +
			filesHelp +
			"\nExit status: 0 the plan was made, or the files were written; 2 the command line is\n" +
			"wrong; 3 a session cannot be read, redacted or written.",
		Example: "  ctxtool redact session.jsonl\n" +
			"  ctxtool redact session.jsonl --env '*_TOKEN' -o shared.jsonl\n" +
			"  ctxtool redact session.jsonl --structure-only -o - | ctxtool check -",
		RunE: func(_ *cobra.Command, args []string) error { return runRedact(e, o, args) },
	}
	o.answer.flags(cmd, "text", "json")
	f := cmd.Flags()
	f.Lookup("format").Usage = "`FORM` of the plan: text, json"
	f.Lookup("output").Usage = "write the redacted session to `FILE`, - for standard output, or into a folder"
	o.redaction.ruleFlags(cmd)
	f.BoolVar(&o.images, "images", false, "make a single pixel of every image")
	cmd.ValidArgsFunction = e.completeFiles
	return cmd
}

func runRedact(e *env, o *redactOptions, args []string) error {
	if err := o.answer.check(); err != nil {
		return err
	}
	r, err := o.redactor(e)
	if err != nil {
		return err
	}
	files, err := e.sessions(args)
	if err != nil {
		return err
	}
	folder := e.isDir(o.output)
	many := len(files) != 1 || len(args) == 1 && e.isDir(args[0])
	if many && o.output != "" {
		if !folder {
			return fmt.Errorf("-o %s: several sessions go into a folder that is there", o.output)
		}
		if err := (&remaking{answer: o.answer}).apart(e, files); err != nil {
			return err
		}
	}
	e.started = true
	if len(files) == 0 {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: args[0]}, Err: errors.New("there is no session in it")}
	}
	if !many {
		return o.one(e, r, files[0], folder)
	}
	all := inParallel(e, files, func(f listedFile, _ func(done, size int64)) *redact.Report { return o.batch(e, r, f) })
	if err := e.report(o.output, func(w *bufio.Writer) error {
		if o.format == "json" {
			return render.WriteJSON(w, redact.Reports{Schema: redact.ReportSchema, Files: all})
		}
		return render.WriteRedactedFiles(w, all, e.width(""))
	}); err != nil {
		return err
	}
	return firstError(all, func(r *redact.Report) (file, text string) { return r.File, r.Error })
}

// one redacts a single session, and prints the plan or what was done.
func (o *redactOptions) one(e *env, r *redact.Redactor, f listedFile, folder bool) error {
	out := o.output
	if folder {
		out = filepath.Join(out, f.out)
	}
	report, err := o.session(e, r, f, 0, out, folder)
	if err != nil {
		return err
	}
	return e.report(o.output, func(w *bufio.Writer) error {
		if o.format == "json" {
			return render.WriteJSON(w, report)
		}
		return render.WriteRedacted(w, report, e.width(""))
	})
}

// batch redacts one session of several. Its error is in the result.
func (o *redactOptions) batch(e *env, r *redact.Redactor, f listedFile) *redact.Report {
	out := ""
	if o.output != "" {
		out = filepath.Join(o.output, f.out)
	}
	report, err := o.session(e, r, f, 1, out, true)
	if err != nil {
		return &redact.Report{Schema: redact.ReportSchema, File: r.Text(f.given), Error: reason(err)}
	}
	return report
}

// session redacts a session, holds the result against what it was, and writes it
// where out says, packed as the session is.
func (o *redactOptions) session(e *env, r *redact.Redactor, f listedFile, workers int, out string, pack bool) (*redact.Report, error) {
	was, err := sessionfmt.Open(f.path, sessionfmt.Options{Stdin: e.stdin, Disk: e.disk, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer was.Close()
	var tally redact.Tally
	is, err := sessionfmt.OpenReader(f.path, was.Plain(), sessionfmt.Options{Workers: workers, Through: r.Passes(&tally)})
	if err != nil {
		return nil, err
	}
	defer is.Close()
	if err := redact.Same(was, is); err != nil {
		return nil, err
	}
	report := tally.Report(r.Text(f.given))
	write := func(w io.Writer) error { _, err := io.Copy(w, is.Plain()); return err }
	switch {
	case out == "":
	case out == "-":
		err = write(e.stdout)
	case e.sameFile(out, f.path):
		err = &usageError{&sessionfmt.Error{Pos: sessionfmt.Pos{File: out}, Err: errors.New("-o names the session itself, which is never written to")}}
	default:
		if pack { // below a folder that is there
			err = e.disk.MkdirAll(filepath.Dir(out))
			whole := write
			write = func(w io.Writer) error { return was.Pack(w, whole) }
		}
		if err == nil {
			err = e.place(out, write)
		}
	}
	if err != nil {
		return nil, err
	}
	report.Written = out
	return report, nil
}
