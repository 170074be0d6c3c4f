package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

type Pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

func main() {
	pets, etag, err := listPets(nil, "")
	if err != nil {
		log.Fatal(err)
	}

	pets, newETag, err := listPets(pets, etag)
	if err != nil {
		log.Fatal(err)
	}
	if newETag == etag {
		fmt.Println("unchanged")
	} else {
		fmt.Println("changed", len(pets))
	}
}

// listPets returns the stored animals after a 304.
func listPets(stored []Pet, etag string) ([]Pet, string, error) {
	request, err := http.NewRequest("GET", "http://localhost:3000/v1/pets?status=available", nil)
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusNotModified:
		return stored, etag, nil
	case http.StatusOK:
		var pets []Pet
		err := json.NewDecoder(response.Body).Decode(&pets)
		return pets, response.Header.Get("ETag"), err
	default:
		return nil, "", fmt.Errorf("unexpected status %s", response.Status)
	}
}
