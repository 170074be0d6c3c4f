package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	request, err := http.NewRequest("GET", "http://localhost:3000/v1/pets", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.StatusCode == http.StatusOK)
}
