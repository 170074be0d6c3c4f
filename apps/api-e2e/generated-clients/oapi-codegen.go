package main

import (
	"context"
	"fmt"
	"os"
	"regexp"

	"github.com/oapi-codegen/oapi-codegen/v2/pkg/securityprovider"
)

func main() {
	ctx, key, limit := context.Background(), "import-1", 1
	bearer, _ := securityprovider.NewSecurityProviderBearerToken(os.Getenv("API_KEY"))
	client, _ := NewClientWithResponses(os.Getenv("BASE_URL")+"/v1", WithRequestEditorFn(bearer.Intercept))
	for _, name := range []string{"Rex", "Rex", "Mia"} {
		pet := NewPet{Name: name, CategoryId: 9223372036854775807}
		if answer, err := client.CreatePetWithResponse(ctx, &CreatePetParams{IdempotencyKey: &key}, pet); err != nil {
			panic(err)
		} else if answer.JSON201 != nil {
			fmt.Println(answer.JSON201.Id, answer.JSON201.CategoryId)
		} else {
			fmt.Println(answer.StatusCode(), answer.JSON422.Code)
		}
	}
	list := &ListPetsParams{Limit: &limit}
	for next := []string{""}; next != nil; {
		page, err := client.ListPetsWithResponse(ctx, list)
		if err != nil {
			panic(err)
		}
		for _, pet := range *page.JSON200 {
			fmt.Println(pet.Name, pet.CategoryId)
		}
		next = regexp.MustCompile(`[?&]cursor=([^&>]+)`).FindStringSubmatch(page.HTTPResponse.Header.Get("Link"))
		if next != nil {
			list.Cursor = &next[1]
		}
	}
}
