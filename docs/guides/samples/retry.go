package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"os"
	"strconv"
	"time"
)

type Pet struct {
	ID         int64  `json:"id,omitempty"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status,omitempty"`
}

var client = &http.Client{Timeout: 10 * time.Second}

func main() {
	// Your record 4711 has the same key in each run of the program.
	pet, err := createPet(Pet{Name: "Rex", CategoryID: 7}, "import-4711", 5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s was added\n", pet.Name)
}

func createPet(pet Pet, key string, attempts int) (Pet, error) {
	body, err := json.Marshal(pet)
	if err != nil {
		return pet, err
	}
	for attempt := 1; ; attempt++ {
		created, retry, retryAfter, err := send(body, key)
		if err == nil || !retry || attempt == attempts {
			return created, err
		}
		backoff, err := rand.Int(rand.Reader, big.NewInt(int64(time.Second)<<attempt))
		if err != nil {
			return pet, err
		}
		if delay := time.Duration(backoff.Int64()); delay > retryAfter {
			retryAfter = delay
		}
		time.Sleep(retryAfter)
	}
}

// send makes one attempt. After an error, it returns whether to retry and the minimum delay.
func send(body []byte, key string) (pet Pet, retry bool, retryAfter time.Duration, err error) {
	request, err := http.NewRequest("POST", "http://localhost:3000/v1/pets", bytes.NewReader(body))
	if err != nil {
		return pet, false, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)

	response, err := client.Do(request)
	if err != nil {
		return pet, true, 0, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusCreated:
		// If the connection fails here, a retry returns the same animal.
		err = json.NewDecoder(response.Body).Decode(&pet)
		return pet, true, 0, err
	case 408, 429, 500, 502, 503, 504:
		retry = true
	}
	return pet, retry, delayOf(response.Header.Get("Retry-After")), fmt.Errorf("unexpected status %s", response.Status)
}

// delayOf parses Retry-After. A proxy may send a date instead of seconds.
func delayOf(retryAfter string) time.Duration {
	if date, err := http.ParseTime(retryAfter); err == nil {
		return time.Until(date)
	}
	seconds, _ := strconv.Atoi(retryAfter)
	return time.Duration(seconds) * time.Second
}
