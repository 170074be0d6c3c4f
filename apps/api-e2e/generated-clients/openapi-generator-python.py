import os, re
from openapi_client import ApiClient, ApiException, Configuration, NewPet, PetsApi

pets = PetsApi(ApiClient(Configuration(f"{os.environ['BASE_URL']}/v1", access_token=os.environ["API_KEY"])))
for name in ("Rex", "Rex", "Mia"):
    try:
        pet = pets.create_pet(NewPet(name=name, category_id=9223372036854775807), "import-1")
        print(pet.id, pet.category_id)
    except ApiException as error:
        print(error.status, error.data.code)
link = re.match("()", "")
while link:
    page = pets.list_pets_with_http_info(limit=1, cursor=link[1] or None)
    for pet in page.data:
        print(pet.name, pet.category_id)
    link = re.search("[?&]cursor=([^&>]+)", page.headers.get("link", ""))
