// Package corridor makes clients of both Corridor services whose requests are signed.
//
//	payments := corridor.Payments("http://127.0.0.1:8480", accessKey, secretKey)
//	ask := payment.NewQuoteRequest(payment.COUNTRY_PAK, payment.SOURCECURRENCY_AED, 500)
//	quote, _, err := payments.QuotesAPI.CreateQuote(ctx).QuoteRequest(*ask).Execute()
package corridor

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"corridor.example/client/payment"
	"corridor.example/client/wallet"
)

const (
	tokenLifetime = 60 * time.Second
	// A poll for events takes up to wait seconds: ask for 25 at most.
	timeout = 45 * time.Second
)

// Signer signs requests and sends them.
type Signer struct {
	AccessKey string
	// SecretKey is the key as issued: its text, not its base64-decoded bytes.
	SecretKey string
	// Audience is the URL of the API.
	Audience string
	// Roles are those of a token of the wallet service.
	Roles []string
	// Base sends the signed requests; nil means http.DefaultTransport.
	Base http.RoundTripper
}

// Token makes the token of a request: a JWT (HS256) that also covers the body, if there is one.
func (s *Signer) Token(body []byte) (string, error) {
	now := time.Now()
	claims := map[string]any{
		"sub": s.AccessKey,
		"aud": s.Audience,
		"iss": s.Audience,
		"iat": now.Unix(),
		"exp": now.Add(tokenLifetime).Unix(),
	}
	if len(s.Roles) > 0 {
		claims["roles"] = s.Roles
	}
	if body != nil {
		claims["hmac"] = hex.EncodeToString(s.mac(body))
	}
	header, err := json.Marshal(map[string]string{"alg": "HS256", "typ": "JWT", "kid": s.AccessKey})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	b64url := base64.RawURLEncoding
	signed := b64url.EncodeToString(header) + "." + b64url.EncodeToString(payload)
	return signed + "." + b64url.EncodeToString(s.mac([]byte(signed))), nil
}

func (s *Signer) mac(data []byte) []byte {
	hash := hmac.New(sha256.New, []byte(s.SecretKey))
	hash.Write(data)
	return hash.Sum(nil)
}

// RoundTrip implements http.RoundTripper.
func (s *Signer) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	signed := request.Clone(request.Context())
	if request.Body != nil && request.ContentLength != 0 {
		var err error
		body, err = io.ReadAll(request.Body)
		request.Body.Close()
		if err != nil {
			return nil, err
		}
		signed.Body = io.NopCloser(bytes.NewReader(body))
	}
	token, err := s.Token(body)
	if err != nil {
		return nil, err
	}
	signed.Header.Set("Authorization", "Bearer "+token)
	base := s.Base
	if base == nil {
		base = http.DefaultTransport
	}
	return base.RoundTrip(signed)
}

// client sends signed requests. Redirects are answers: each hop would be signed, and another host gets no token.
func (s *Signer) client() *http.Client {
	last := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: s, Timeout: timeout, CheckRedirect: last}
}

// Payments makes a client of the payment service.
func Payments(baseURL, accessKey, secretKey string) *payment.APIClient {
	url := strings.TrimRight(baseURL, "/")
	settings := payment.NewConfiguration()
	settings.Servers = payment.ServerConfigurations{{URL: url}}
	signer := &Signer{AccessKey: accessKey, SecretKey: secretKey, Audience: url}
	settings.HTTPClient = signer.client()
	return payment.NewAPIClient(settings)
}

// Wallets makes a client of the wallet service with these roles.
func Wallets(baseURL, accessKey, secretKey string, roles ...string) *wallet.APIClient {
	url := strings.TrimRight(baseURL, "/")
	settings := wallet.NewConfiguration()
	settings.Servers = wallet.ServerConfigurations{{URL: url}}
	signer := &Signer{AccessKey: accessKey, SecretKey: secretKey, Audience: url, Roles: roles}
	settings.HTTPClient = signer.client()
	return wallet.NewAPIClient(settings)
}
