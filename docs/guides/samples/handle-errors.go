package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	request, err := http.NewRequest("GET", "http://localhost:3000/v1/pets?limit=0", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return
	}

	var problem struct {
		Code string `json:"code"`
	}
	// The body of a proxy's error may not be JSON.
	if err := json.NewDecoder(response.Body).Decode(&problem); err != nil {
		problem.Code = "no code"
	}
	advice := "do not retry"
	switch response.StatusCode {
	case 408, 429, 500, 502, 503, 504:
		advice = "retry"
	}
	fmt.Println(response.StatusCode, problem.Code, advice)
}
