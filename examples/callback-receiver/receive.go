package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const bodyBytesMax = 1_000_000

// The gateway may send a message more than once. In production, store these ids in the database, together
// with the effects of the message.
var seen sync.Map

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "9000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(receive)))
}

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if !IsGenuine(request.Header.Get, body, os.Getenv("WEBHOOK_SECRET"), time.Now()) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	response.WriteHeader(http.StatusNoContent)
	if _, known := seen.LoadOrStore(request.Header.Get("webhook-id"), true); known {
		return
	}
	var task struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		VideoURL string `json:"video_url"`
	}
	if json.Unmarshal(body, &task) == nil {
		fmt.Println(task.ID, task.Status, task.VideoURL)
	}
}

// IsGenuine reports whether the gateway sent the message. Pass r.Header.Get and the raw bytes of the body.
func IsGenuine(header func(string) string, body []byte, secret string, now time.Time) bool {
	id, timestamp := header("webhook-id"), header("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	// Reject old messages, because an attacker could have recorded them to send them again.
	if err != nil || math.Abs(float64(now.Unix()-seconds)) > 300 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Split(header("webhook-signature"), " ") {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}
