// Verifies a webhook:
// go run verify.go <webhook-id> <webhook-timestamp> <webhook-signature> [now] < raw body
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

func genuine(secrets []string, id, sent, signatures string, body []byte, now int64) (bool, error) {
	at, err := strconv.ParseUint(sent, 10, 62)
	if err != nil || int64(at) > now+toleranceSeconds || int64(at) < now-toleranceSeconds {
		return false, nil
	}
	found := false
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return false, err
		}
		hash := hmac.New(sha256.New, key)
		hash.Write([]byte(id + "." + sent + "."))
		hash.Write(body)
		expected := "v1," + base64.StdEncoding.EncodeToString(hash.Sum(nil))
		for _, given := range strings.Split(signatures, " ") {
			// Compares in constant time.
			if hmac.Equal([]byte(given), []byte(expected)) {
				found = true
			}
		}
	}
	return found, nil
}

func main() {
	now := time.Now().Unix()
	if len(os.Args) > 4 {
		given, err := strconv.ParseInt(os.Args[4], 10, 64)
		if err != nil {
			log.Fatal(err)
		}
		now = given
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	// One secret, or two separated by a space during a rotation.
	secrets := strings.Fields(os.Getenv("CORRIDOR_WEBHOOK_SECRET"))
	verdict, err := genuine(secrets, os.Args[1], os.Args[2], os.Args[3], body, now)
	if err != nil {
		log.Fatal(err)
	}
	if !verdict {
		fmt.Println("forged")
		os.Exit(1)
	}
	fmt.Println("genuine")
}
