package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
)

type Pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

func main() {
	url := "http://localhost:3000/v1/pets?limit=2"
	for url != "" {
		pets, next, err := getPage(url)
		if err != nil {
			log.Fatal(err)
		}
		for _, pet := range pets {
			fmt.Println(pet.Name)
		}
		url = next
	}
}

// getPage returns the animals of a page and the URL of the next page, which is empty on the last page.
func getPage(url string) (pets []Pet, next string, err error) {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("unexpected status %s", response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(&pets); err != nil {
		return nil, "", err
	}

	link := nextLink.FindStringSubmatch(response.Header.Get("Link"))
	if link == nil {
		return pets, "", nil
	}
	nextURL, err := request.URL.Parse(link[1])
	if err != nil {
		return nil, "", err
	}
	return pets, nextURL.String(), nil
}
