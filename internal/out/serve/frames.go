package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// Errors of JSON-RPC.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// A framed passes on the lines of a client that are messages of JSON-RPC. It answers others with
// an error, and drops them, since the SDK ends a connection at the first one.
type framed struct {
	*io.PipeReader
}

// newFramed returns a reader of in that answers on out. The reader ends when in has ended and
// all requests are answered, since the SDK answers nothing once its reader ends.
func newFramed(in io.Reader, out *answers) framed {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(lines)
			message, code, why := judge(line)
			switch {
			case errors.Is(err, errLong):
				out.refuse(parseError, err.Error())
				err = nil
			case jsonl.Blank(line):
			case code != 0:
				out.refuse(code, why)
			default:
				if id, call := identify(message); call && id != "" {
					out.mu.Lock()
					out.open[id] = true
					out.mu.Unlock()
				}
				if _, gone := w.Write(canonical(message)); gone != nil {
					return
				}
			}
			if err != nil {
				out.wait()
				w.CloseWithError(err)
				return
			}
		}
	}()
	return framed{r}
}

var errLong = fmt.Errorf("longer than %d bytes", mostFrame)

// readLine reads a line. The rest of a long one is skipped.
func readLine(r *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > mostFrame; !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case long && (err == nil || err == io.EOF):
			return nil, errLong
		default:
			return line, err
		}
	}
}

// judge returns the message that a line is, or the code of its error.
func judge(line []byte) (v jsonl.Value, code int, why string) {
	v, err := jsonl.ParseValue(line)
	if err != nil {
		return nil, parseError, "not JSON"
	}
	id, method := v.Get("id"), v.Get("method")
	switch {
	case !v.IsObject(), !v.Get("jsonrpc").Is("2.0"):
		return nil, invalidRequest, "not a message of JSON-RPC 2.0"
	case id.Exists() && !id.IsString() && !isWhole(string(id)):
		return nil, invalidRequest, "id: must be a string or a whole number"
	case method.Exists() && !method.IsString(),
		!method.Exists() && (!id.Exists() || !v.Get("result").Exists() && !v.Get("error").IsObject()):
		return nil, invalidRequest, "neither a request nor a response"
	case v.Get("params").Exists() && !v.Get("params").IsObject() && !v.Get("params").IsArray():
		return nil, invalidRequest, "params: must be an object"
	}
	return v, 0, ""
}

// canonical returns a message as a line with each field once and an id of valid UTF-8. The SDK
// repeats the id of a request as it decoded it, so the two decoders must not read it differently.
func canonical(message jsonl.Value) []byte {
	line := []byte(`{"jsonrpc":"2.0"`)
	if id := message.Get("id"); id.IsString() {
		line = jsonl.AppendQuoted(append(line, `,"id":`...), idText(id))
	} else if id.Exists() {
		line = append(append(line, `,"id":`...), id...)
	}
	for _, name := range []string{"method", "params", "result", "error"} {
		if field := message.Get(name); field.Exists() {
			line = append(append(append(append(line, `,"`...), name...), `":`...), field...)
		}
	}
	return append(line, "}\n"...)
}

// An answers is the stream to a client. Several write to it, each a line at a time.
type answers struct {
	mu   sync.Mutex
	w    io.WriteCloser
	open map[string]bool // the ids of requests that are not answered
	gone bool            // the client does not read
	news *sync.Cond      // an answer, or the end of them
}

// refuse answers a line that is not a message.
func (a *answers) refuse(code int, why string) {
	fmt.Fprintf(a, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`+
		"\n", code, jsonl.AppendQuoted(nil, why))
}

// identify returns the id of a message, empty for none, and whether it calls a method.
func identify(message jsonl.Value) (id string, call bool) {
	switch n := message.Get("id"); {
	case n.IsString():
		id = `"` + idText(n)
	case n.IsNumber():
		id = strconv.FormatInt(n.Int(), 10)
	}
	return id, message.Get("method").Exists()
}

// idText is an id as the SDK gets it, and repeats it.
func idText(id jsonl.Value) string { return string(jsonl.ReplaceInvalidUTF8(id.AppendText(nil))) }

// wait returns when all requests are answered, or the client does not read answers.
func (a *answers) wait() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.open) > 0 && !a.gone {
		a.news.Wait()
	}
}

func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, err := a.w.Write(p)
	v, _ := jsonl.ParseValue(p)
	if id, call := identify(v); !call {
		delete(a.open, id)
	}
	a.gone = a.gone || err != nil
	a.news.Broadcast()
	return n, err
}

func (a *answers) Close() error { return a.w.Close() }
