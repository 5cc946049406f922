package admission

import (
	"crypto/tls"
	"errors"
	"sync/atomic"
)

// ErrCertificate is returned to clients that come before a certificate is loaded.
var ErrCertificate = errors.New("no certificate is loaded yet")

// Certificate is the certificate of a server that is renewed while it serves. The zero value
// has none yet. Safe for concurrent use.
type Certificate struct {
	current atomic.Pointer[tls.Certificate]
}

// Reload makes a PEM-encoded certificate chain and its key what connections from now on
// get. After an error, as from a key that is not the certificate's, the old ones stay.
func (c *Certificate) Reload(chain, key []byte) error {
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return err
	}
	c.current.Store(&pair)
	return nil
}

// Get is for tls.Config.GetCertificate.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if pair := c.current.Load(); pair != nil {
		return pair, nil
	}
	return nil, ErrCertificate
}
