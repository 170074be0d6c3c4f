import email.utils, http.client, json, os, random, time, urllib.error, urllib.request

RETRYABLE = (408, 429, 500, 502, 503, 504)


def create_pet(pet, key, attempts=5):
    request = urllib.request.Request(
        "http://localhost:3000/v1/pets",
        data=json.dumps(pet).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['API_KEY']}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        },
    )
    for attempt in range(1, attempts + 1):
        delay = random.uniform(0, 2**attempt)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if attempt == attempts or error.code not in RETRYABLE:
                raise
            delay = max(delay, seconds_of(error.headers.get("Retry-After", "0")))
        # No complete response: timeout, reset, DNS, or the connection closed early.
        except (OSError, http.client.HTTPException):
            if attempt == attempts:
                raise
        time.sleep(delay)


def seconds_of(retry_after):
    """Returns the time to wait. A proxy may send a date instead of seconds."""
    if retry_after.isdecimal():
        return int(retry_after)
    try:
        return email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (TypeError, ValueError):
        return 0


# Your record 4711 has the same key in each run of the program.
pet = create_pet({"name": "Rex", "categoryId": 7}, "import-4711")
print(f"{pet['name']} was added")
