// Package browse serves pages to one browser on this machine, and to nobody else.
package browse

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A Server serves at an address that has a token, until it is stopped or was not used for some time.
type Server struct {
	Handler http.Handler  // gets requests without the token
	Idle    time.Duration // how long it may be unused
	// Watch begins the paths by which pages ask whether something has changed: no use.
	Watch string

	listener net.Listener
	host     string
	token    string
	used     atomic.Int64 // when it was used last, nanoseconds since 1970
}

// Listen listens on a port of 127.0.0.1, on a free one for 0 or if another program has it: then taken is
// true.
func (s *Server) Listen(port int) (taken bool, err error) {
	if s.listener, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err != nil && port != 0 {
		taken = true
		s.listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return taken, err
	}
	var random [16]byte
	rand.Read(random[:]) // never fails
	s.host, s.token = s.listener.Addr().String(), hex.EncodeToString(random[:])
	return taken, nil
}

// Port returns the port that it listens on.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Address returns the address of the first page.
func (s *Server) Address() string { return "http://" + s.host + "/" + s.token + "/" }

// Serve serves until it was unused for too long, or until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{Handler: http.HandlerFunc(s.guard), ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes: 64 << 10}
	s.use()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for left := s.Idle; left > 0; left = s.Idle - time.Since(time.Unix(0, s.used.Load())) {
			select {
			case <-ctx.Done():
				left = 0
			case <-time.After(left):
				continue
			}
			break
		}
		server.Close()
	}()
	err := server.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return err
}

func (s *Server) use() { s.used.Store(time.Now().UnixNano()) }

// headers keep what is served in its page: nobody else may read it, show it in a frame, keep it or hear of
// its address. Pages have a policy of their own too.
var headers = map[string]string{
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
}

// guard answers requests of the pages, and of who opens their address; others are forbidden.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/"+s.token+"/")
	if !ok || !s.own(r) {
		http.Error(w, "forbidden: ctxtool browse prints the address that is served", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet {
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	if s.Watch == "" || !strings.HasPrefix(rest, s.Watch) {
		s.use()
		defer s.use()
	}
	r.URL.Path = "/" + rest
	s.Handler.ServeHTTP(w, r)
}

// own reports whether a request is for this server by its own name, and not from another site's page:
// neither of a name that somebody has led to this machine, nor with an address that has become known.
func (s *Server) own(r *http.Request) bool {
	if r.Host != s.host {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+s.host {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none"
}
