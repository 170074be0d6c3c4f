package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
	"time"
)

const firstPage = "http://localhost:3000/v1/pets?limit=100"

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

type Pet struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// State is the state that each poll returns. Store it, for example as JSON.
type State struct {
	Start   string         // the page at which the next poll begins
	Seen    map[int64]bool // ids of the animals that the last poll read
	Last    string         // the last page of an earlier poll, at which a later poll begins
	EndedAt time.Time      // when this earlier poll ended
}

var client = &http.Client{Timeout: 10 * time.Second}

func main() {
	// The state before the first poll.
	state := State{Start: firstPage, Last: firstPage}
	for i := 0; i < 2; i++ {
		pets, next, err := poll(state)
		if err != nil {
			log.Fatal(err)
		}
		state = next
		fmt.Println(len(pets), "new animals")
	}
}

// poll returns the new animals and the next state.
func poll(state State) (found []Pet, next State, err error) {
	beganAt := time.Now()
	seen := map[int64]bool{}
	last := state.Start
	for url := state.Start; url != ""; {
		last = url
		var pets []Pet
		if pets, url, err = getPage(url); err != nil {
			return nil, state, err
		}
		for _, pet := range pets {
			if !state.Seen[pet.ID] {
				found = append(found, pet)
			}
			seen[pet.ID] = true
		}
	}
	next = State{Start: state.Start, Seen: seen, Last: state.Last, EndedAt: state.EndedAt}
	// An animal can become visible a few seconds after later ones.
	if beganAt.Sub(state.EndedAt) > time.Minute {
		next.Start, next.Last, next.EndedAt = state.Last, last, time.Now()
	}
	return found, next, nil
}

// getPage returns the animals of a page and the URL of the next page, which is empty on the last page.
func getPage(url string) (pets []Pet, next string, err error) {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))

	response, err := client.Do(request)
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
