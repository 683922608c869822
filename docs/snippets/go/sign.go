// Signs one call to each service and sends it using only Go's standard library: `go run sign.go`.
// The keys come from the environment.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func env(name string) string {
	value := os.Getenv("CORRIDOR_" + name)
	if value == "" {
		log.Fatalf("CORRIDOR_%s is not set", name)
	}
	return value
}

// The key is the text of the secret key, not its base64-decoded bytes.
func mac(secretKey string, data []byte) []byte {
	hash := hmac.New(sha256.New, []byte(secretKey))
	hash.Write(data)
	return hash.Sum(nil)
}

func attest(secretKey string, body []byte) string {
	return hex.EncodeToString(mac(secretKey, body))
}

func token(accessKey, secretKey, apiURL string, more map[string]any) (string, error) {
	now := time.Now().Unix()
	header, err := json.Marshal(map[string]string{"alg": "HS256", "typ": "JWT", "kid": accessKey})
	if err != nil {
		return "", err
	}
	claims := map[string]any{"sub": accessKey, "aud": apiURL, "iss": apiURL, "iat": now, "exp": now + 60}
	for name, value := range more {
		claims[name] = value
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	b64url := base64.RawURLEncoding
	signed := b64url.EncodeToString(header) + "." + b64url.EncodeToString(payload)
	return signed + "." + b64url.EncodeToString(mac(secretKey, []byte(signed))), nil
}

func send(method, url, bearer string, body []byte) (string, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+bearer)
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	if answer.StatusCode/100 != 2 {
		return "", fmt.Errorf("%s %s", answer.Status, text)
	}
	return string(text), nil
}

func main() {
	// POST: the claim `hmac` covers exactly the bytes that are sent.
	body := []byte(`{"country":"PAK","currency":"AED","amount":500}`)
	attested := attest(env("SECRET_KEY"), body)
	bearer, err := token(env("ACCESS_KEY"), env("SECRET_KEY"), env("BASE_URL"), map[string]any{"hmac": attested})
	if err != nil {
		log.Fatal(err)
	}
	quote, err := send(http.MethodPost, env("BASE_URL")+"/v2/quote", bearer, body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(quote)

	// GET: no body, no hmac. Wallet tokens carry roles.
	wallets, roles := env("WALLET_BASE_URL"), map[string]any{"roles": []string{"wallet_manager"}}
	bearer, err = token(env("WALLET_ACCESS_KEY"), env("WALLET_SECRET_KEY"), wallets, roles)
	if err != nil {
		log.Fatal(err)
	}
	wallet, err := send(http.MethodGet, wallets+"/v1/sdk/wallets/"+env("WALLET_ID"), bearer, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(wallet)
}
