package apisim

import (
	"context"
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
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// maxStreams is how many requests the real server lets one HTTP/2 connection
// have open.
const maxStreams = 100

// ServeTLS is Serve with TLS, and so with the HTTP/2 that Kubernetes clients
// use: at most 100 requests at a time on a connection. The certificate is made
// for the call and valid for a day; the configuration trusts it.
func (s *Server) ServeTLS(ctx context.Context, addr string) (config *rest.Config, wait func() error, err error) {
	cert, ca, err := selfSigned()
	if err != nil {
		return nil, nil, fmt.Errorf("apisim: make a certificate: %w", err)
	}
	url, wait, err := s.Serve(ctx, addr, func(cfg *serving) { cfg.cert = &cert })
	if err != nil {
		return nil, nil, err
	}
	return &rest.Config{Host: url, TLSClientConfig: rest.TLSClientConfig{CAData: ca}, QPS: -1}, wait, nil
}

// secure makes srv speak TLS on the listener.
func secure(srv *http.Server, ln net.Listener, cert *tls.Certificate) net.Listener {
	srv.Protocols.SetUnencryptedHTTP2(false)
	srv.Protocols.SetHTTP2(true)
	srv.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	return tls.NewListener(ln, &tls.Config{
		Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
	})
}

// selfSigned returns a certificate for the loopback addresses, which is its own
// authority, and that authority in PEM.
func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "apisim"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, ca, nil
}
