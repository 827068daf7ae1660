package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// newFramed returns a reader of in that answers on out. The reader ends when in does.
func newFramed(in io.Reader, out io.Writer) framed {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(lines)
			switch code, why := judge(line); {
			case errors.Is(err, errLong):
				refuse(out, parseError, err.Error())
				err = nil
			case jsonl.Blank(line):
			case code != 0:
				refuse(out, code, why)
			default:
				if _, gone := w.Write(append(jsonl.Trim(line), '\n')); gone != nil {
					return
				}
			}
			if err != nil {
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

// judge returns the code of the error that a line is, 0 for a message.
func judge(line []byte) (code int, why string) {
	v, err := jsonl.ParseValue(line)
	if err != nil {
		return parseError, "not JSON"
	}
	id, method := v.Get("id"), v.Get("method")
	switch {
	case !v.IsObject(), !v.Get("jsonrpc").Is("2.0"):
		return invalidRequest, "not a message of JSON-RPC 2.0"
	case id.Exists() && !id.IsString() && (!id.IsNumber() || !whole(id)):
		return invalidRequest, "id: must be a string or a whole number"
	case method.Exists() && !method.IsString(), !method.Exists() && (!id.Exists() || !v.Get("result").Exists() && !v.Get("error").IsObject()):
		return invalidRequest, "neither a request nor a response"
	case v.Get("params").Exists() && !v.Get("params").IsObject() && !v.Get("params").IsArray():
		return invalidRequest, "params: must be an object"
	}
	return 0, ""
}

// whole reports whether a number is spelled as a whole one.
func whole(v jsonl.Value) bool {
	for i, c := range v {
		if c-'0' > 9 && (i > 0 || c != '-') {
			return false
		}
	}
	return len(v) < 16
}

func refuse(out io.Writer, code int, why string) {
	fmt.Fprintf(out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`+"\n", code, jsonl.AppendQuoted(nil, why))
}

// A locked is a stream to which several write, each a line at a time.
type locked struct {
	sync.Mutex
	w io.WriteCloser
}

func (l *locked) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.w.Write(p)
}

func (l *locked) Close() error { return l.w.Close() }
