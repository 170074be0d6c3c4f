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
		Code   string `json:"code"`
		Status int    `json:"status"`
	}
	if err := json.NewDecoder(response.Body).Decode(&problem); err != nil {
		log.Fatal(err)
	}
	advice := "do not retry"
	switch problem.Status {
	case 408, 429, 500, 502, 503, 504:
		advice = "retry"
	}
	fmt.Println(problem.Status, problem.Code, advice)
}
