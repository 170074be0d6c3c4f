package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
)

type security struct{}

func (security) ApiKey(context.Context, OperationName) (ApiKey, error) {
	return ApiKey{Token: os.Getenv("API_KEY")}, nil
}

func main() {
	ctx := context.Background()
	client, _ := NewClient(os.Getenv("BASE_URL")+"/v1", security{})
	for _, name := range []string{"Rex", "Rex", "Mia"} {
		pet := &NewPet{Name: name, CategoryId: 9223372036854775807}
		params := CreatePetParams{IdempotencyKey: NewOptString("import-1")}
		switch answer, err := client.CreatePet(ctx, pet, params); answer := answer.(type) {
		case *PetHeaders:
			fmt.Println(answer.Response.ID, answer.Response.CategoryId)
		case *IdempotencyKeyReusedHeaders:
			fmt.Println(answer.Response.Status, answer.Response.Code)
		default:
			panic(err)
		}
	}
	for cursor := []string{"", ""}; cursor != nil; {
		list := ListPetsParams{Limit: NewOptInt(1), Cursor: OptString{cursor[1], cursor[1] != ""}}
		answer, err := client.ListPets(ctx, list)
		if err != nil {
			panic(err)
		}
		page := answer.(*PetsHeaders)
		for _, pet := range page.Response {
			fmt.Println(pet.Name, pet.CategoryId)
		}
		cursor = regexp.MustCompile(`[?&]cursor=([^&>]+)`).FindStringSubmatch(page.Link.Value)
	}
}
