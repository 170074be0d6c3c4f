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
	request, err := http.NewRequest("GET", "http://localhost:3000/v1/pets?id=2", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}

	var pets []Pet
	if err := json.NewDecoder(response.Body).Decode(&pets); err != nil {
		log.Fatal(err)
	}
	if len(pets) == 0 {
		fmt.Println("not found")
		return
	}
	fmt.Println(pets[0].Name)
}
