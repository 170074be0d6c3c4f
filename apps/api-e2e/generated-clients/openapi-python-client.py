import os, re
from animal_store_client import AuthenticatedClient
from animal_store_client.api.pets import create_pet, list_pets
from animal_store_client.models import Error, NewPet
from animal_store_client.types import UNSET

client = AuthenticatedClient(f"{os.environ['BASE_URL']}/v1", os.environ["API_KEY"])
for name in ("Rex", "Rex", "Mia"):
    pet = create_pet.sync(client=client, body=NewPet(name, 9223372036854775807), idempotency_key="import-1")
    print(*(pet.status, pet.code) if isinstance(pet, Error) else (pet.id, pet.category_id))
link = re.match("()", "")
while link:
    page = list_pets.sync_detailed(client=client, limit=1, cursor=link[1] or UNSET)
    for pet in page.parsed:
        print(pet.name, pet.category_id)
    link = re.search("[?&]cursor=([^&>]+)", page.headers.get("Link", ""))
