package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

// Decode into int64. In map[string]any, numbers are float64, which rounds them.
type Pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

func main() {
	body := strings.NewReader(`{"name":"Rex","categoryId":9007199254740993}`)
	request, err := http.NewRequest("POST", "http://localhost:3000/v1/pets", body)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		log.Fatal(response.Status)
	}

	var pet Pet
	if err := json.NewDecoder(response.Body).Decode(&pet); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pet.CategoryID)
}
