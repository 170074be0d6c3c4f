import json, os, random, time, urllib.error, urllib.request, uuid

RETRYABLE = (408, 429, 500, 502, 503, 504)


def create_pet(pet, attempts=5):
    request = urllib.request.Request(
        "http://localhost:3000/v1/pets",
        data=json.dumps(pet).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['API_KEY']}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),  # the same for all attempts
        },
    )
    for attempt in range(1, attempts + 1):
        retry_after = 0
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if attempt == attempts or error.code not in RETRYABLE:
                raise
            retry_after = int(error.headers.get("Retry-After", 0))
        except OSError:  # no response: timeout, reset, DNS
            if attempt == attempts:
                raise
        time.sleep(max(random.uniform(0, 2**attempt), retry_after))


pet = create_pet({"name": "Rex", "categoryId": 7})
print(f"{pet['name']} was added")
