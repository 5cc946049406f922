package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// patience is how long a server may take to be ready.
const patience = 2 * time.Minute

// server is an etcd and a kube-apiserver in this process, that listen on the loopback
// alone. No controllers run.
type server struct {
	Config *rest.Config // of an administrator

	dir  string
	etcd *embed.Etcd
	stop context.CancelFunc
	done chan error // what the apiserver ended with
}

// start starts both and waits until the server is ready. After an error nothing is left.
func start(ctx context.Context) (_ *server, err error) {
	klog.SetLogger(logr.Discard())
	s := &server{}
	if s.dir, err = os.MkdirTemp("", "braid-e2e-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := s.startEtcd(ctx); err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	if err := s.startAPI(ctx); err != nil {
		return nil, fmt.Errorf("kube-apiserver: %w", err)
	}
	return s, nil
}

func (s *server) startEtcd(ctx context.Context) (err error) {
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.UnsafeNoFsync = filepath.Join(s.dir, "etcd"), "fatal", true
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c.ListenClientUrls, c.AdvertiseClientUrls, c.ListenPeerUrls, c.AdvertisePeerUrls = anyPort, anyPort, anyPort, anyPort
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	if s.etcd, err = embed.StartEtcd(c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-s.etcd.Server.ReadyNotify():
		return nil
	case err := <-s.etcd.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *server) startAPI(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	o, err := s.options(listener)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	ctx, s.stop = context.WithCancel(ctx)
	completed, err := o.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return errors.Join(errs...)
	}
	config, err := app.NewConfig(completed)
	if err != nil {
		return err
	}
	complete, err := config.Complete()
	if err != nil {
		return err
	}
	chain, err := app.CreateServerChain(complete)
	if err != nil {
		return err
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return err
	}
	s.done = make(chan error, 1)
	go func() { s.done <- prepared.Run(ctx) }()
	s.Config = rest.CopyConfig(chain.GenericAPIServer.LoopbackClientConfig)
	s.Config.QPS = -1 // no limit
	return s.ready(ctx)
}

// options are those of a server without controllers, with a certificate of its own making.
func (s *server) options(listener net.Listener) (*options.ServerRunOptions, error) {
	o := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range o.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	address := listener.Addr().(*net.TCPAddr)
	o.SecureServing.Listener, o.SecureServing.BindPort = listener, address.Port
	o.SecureServing.BindAddress, o.SecureServing.ExternalAddress = address.IP, address.IP
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	if err := flags.Parse([]string{
		"--cert-dir=" + s.dir,
		"--etcd-servers=http://" + s.etcd.Clients[0].Addr().String(),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--endpoint-reconciler-type=none", // no other accepts a loopback address
		"--service-account-issuer=https://braid.example.com",
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		"--disable-admission-plugins=ServiceAccount", // nobody makes the ServiceAccount named default
		"--allow-privileged=true",
	}); err != nil {
		return nil, err
	}
	return o, o.GenericServerRunOptions.ComponentGlobalsRegistry.Set()
}

// key makes the key that signs tokens of ServiceAccounts, and returns its file.
func (s *server) key() (string, error) {
	file := filepath.Join(s.dir, "tokens.key")
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	pem, err := keyutil.MarshalPrivateKeyToPEM(k)
	if err != nil {
		return "", err
	}
	return file, keyutil.WriteKey(file, pem)
}

// ready waits until the server says that it is.
func (s *server) ready(ctx context.Context) error {
	client, err := rest.HTTPClientFor(s.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Config.Host+"/readyz", nil)
		if err != nil {
			return err
		}
		if answer, err := client.Do(request); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-s.done:
			s.done <- err // Stop reads it too
			return fmt.Errorf("it ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop stops both and removes their files.
func (s *server) Stop() error {
	var err error
	if s.stop != nil {
		s.stop()
	}
	if s.done != nil {
		err = <-s.done
	}
	if s.etcd != nil {
		s.etcd.Close()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
