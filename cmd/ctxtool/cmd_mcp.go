package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"ctxtool/internal/lens/redact"
	"ctxtool/internal/out/serve"
	"ctxtool/sessionfmt"
)

// mcpOptions are the flags of ctxtool mcp.
type mcpOptions struct {
	redaction
	maxTokens int64
}

// usualAnswer is the default size of an answer in tokens, for which an agent has room.
const usualAnswer = 10000

func (o *mcpOptions) define(f *flagSet) {
	f.Var(tokensFlag(&o.maxTokens), "max-tokens",
		"cut answers after `TOKENS` (default: 10000), unless the call sets max_tokens")
}

func runMCP(e *env, o *mcpOptions, _ []string) error {
	inner, err := e.bounded()
	if err != nil {
		return err
	}
	if err := o.configured(e); err != nil {
		return err
	}
	rules := sync.OnceValues(func() (*redact.Redactor, error) { return o.redactor(e) })
	if o.patterns+o.values+strings.Join(o.env, "") != "" { // otherwise an error is impossible
		if _, err := rules(); err != nil {
			return usage(err)
		}
	}
	go rules() // the client need not wait for their compilation
	if o.maxTokens == 0 {
		o.maxTokens = usualAnswer
	}
	st := inner.newStore()
	redacted := func(text string) string {
		r, err := rules()
		if err != nil {
			return ""
		}
		return sessionfmt.Clean(r.Text(text))
	}
	opt := serve.Options{Version: versionName(), Redact: redacted, Folders: append(st.Folders(), inner.logFolders()...),
		Store: st, MaxTokens: o.maxTokens, Run: func(ctx context.Context, out io.Writer, args []string) (string, int) {
			m, known := inner.machine, inner.setup
			m.disk.Stop, m.stdout = ctx.Err, out
			var err error
			if known.redactor, err = rules(); err != nil {
				return err.Error(), exitNothing
			}
			return inner.call(m, known, args)
		}}
	err = serve.Run(context.Background(), e.stdin, nopCloser{e.stdout}, opt)
	if errors.Is(err, io.EOF) {
		err = nil // the client has gone
	}
	return err
}

// A nopCloser is a stream that stays open when its user closes it.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// bounded returns an environment in which commands read nothing outside the folders of sessions.
func (e *env) bounded() (*env, error) {
	in := &env{machine: e.machine, setup: e.setup, again: e.again}
	in.stdin, in.gcPercent, in.color, in.noPager, in.configFile = nil, nil, "never", true, ""
	dirs := append(e.newStore().Folders(), e.logFolders()...)
	for _, dir := range dirs {
		abs, err := filepath.Abs(e.disk.Path(dir))
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(abs)
		if errors.Is(err, fs.ErrNotExist) && e.sessionsDir == "" {
			continue // an agent that has not been used yet
		} else if err != nil {
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: dir},
				Err: errors.New("not a folder that can be read"), Hint: "--sessions-dir sets the folder of sessions"}
		}
		in.disk.Within = append(in.disk.Within, root)
		if e.sessionsDir != "" {
			in.sessionsDir = abs
		}
	}
	if in.disk.Within == nil {
		return nil, sessionfmt.Errorf("no agent has sessions here").Hinted("--sessions-dir sets the folder of sessions")
	}
	return in, nil
}

// call runs a command for a client.
func (e *env) call(m machine, known setup, args []string) (notes string, status int) {
	var said strings.Builder
	m.stderr = &said
	if e.sessionsDir != "" { // a flag: its default is empty
		args = append([]string{args[0], "--sessions-dir=" + e.sessionsDir}, args[1:]...)
	}
	status = e.again(m, known, args)
	return said.String(), status
}
