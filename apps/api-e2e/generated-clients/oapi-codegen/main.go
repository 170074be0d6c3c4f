package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"regexp"
)

var following = regexp.MustCompile(`[?&]cursor=([^&>]+)`)

func main() {
	ctx, key, one := context.Background(), "import-1", 1
	client, _ := NewClientWithResponses(os.Getenv("BASE_URL")+"/v1", WithRequestEditorFn(authorize))
	for _, name := range []string{"Rex", "Rex", "Mia"} {
		pet := NewPet{Name: name, CategoryId: math.MaxInt64}
		answer, err := client.CreatePetWithResponse(ctx, &CreatePetParams{IdempotencyKey: &key}, pet)
		if err != nil {
			panic(err)
		} else if answer.JSON201 != nil {
			fmt.Println(answer.JSON201.Id, answer.JSON201.CategoryId)
		} else {
			fmt.Println(answer.StatusCode(), answer.JSON422.Code)
		}
	}
	list := &ListPetsParams{Limit: &one}
	for {
		page, err := client.ListPetsWithResponse(ctx, list)
		if err != nil {
			panic(err)
		}
		for _, pet := range *page.JSON200 {
			fmt.Println(pet.Name, pet.Id)
		}
		next := following.FindStringSubmatch(page.HTTPResponse.Header.Get("Link"))
		if next == nil {
			break
		}
		list.Cursor = &next[1]
	}
}

func authorize(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	return nil
}
