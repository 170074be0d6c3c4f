package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"regexp"
)

var following = regexp.MustCompile(`[?&]cursor=([^&>]+)`)

type key struct{}

func (key) ApiKey(context.Context, OperationName) (ApiKey, error) {
	return ApiKey{Token: os.Getenv("API_KEY")}, nil
}

func main() {
	ctx := context.Background()
	client, _ := NewClient(os.Getenv("BASE_URL")+"/v1", key{})
	for _, name := range []string{"Rex", "Rex", "Mia"} {
		pet := &NewPet{Name: name, CategoryId: math.MaxInt64}
		answer, err := client.CreatePet(ctx, pet, CreatePetParams{IdempotencyKey: NewOptString("import-1")})
		switch answer := answer.(type) {
		case *PetHeaders:
			fmt.Println(answer.Response.ID, answer.Response.CategoryId)
		case *IdempotencyKeyReusedHeaders:
			fmt.Println(answer.Response.Status, answer.Response.Code)
		default:
			panic(err)
		}
	}
	list := ListPetsParams{Limit: NewOptInt(1)}
	for {
		answer, err := client.ListPets(ctx, list)
		if err != nil {
			panic(err)
		}
		page := answer.(*PetsHeaders)
		for _, pet := range page.Response {
			fmt.Println(pet.Name, pet.ID)
		}
		next := following.FindStringSubmatch(page.Link.Value)
		if next == nil {
			break
		}
		list.Cursor = NewOptString(next[1])
	}
}
