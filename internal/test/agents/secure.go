package agents

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"time"

	"ctxtool/internal/test/must"
)

// authority is the file with the certificate of the server, which programs are told to trust.
const authority = private + "/authority.pem"

// Impersonate lets a server stand for hosts: their names lead to the loopback interface, where it answers on port 443.
// What a program sends depends on the host, so that an address of one's own is not the same.
func (s *Server) Impersonate(hosts []string) error {
	own := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stub"}, DNSNames: hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed := must.Get(x509.CreateCertificate(rand.Reader, about, about, &own.PublicKey, own))
	must.Do(os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o644))
	names := bytes.NewBufferString("127.0.0.1 localhost box\n")
	for _, host := range hosts {
		fmt.Fprintf(names, "127.0.0.1 %s\n", host)
	}
	must.Do(os.WriteFile(private+"/hosts", names.Bytes(), 0o644))
	if said, err := exec.Command("mount", "--bind", private+"/hosts", "/etc/hosts").CombinedOutput(); err != nil {
		return fmt.Errorf("hosts: %w: %s", err, said)
	}
	l, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		return err
	}
	certificate := tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: own}
	go s.http.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}}))
	return nil
}
