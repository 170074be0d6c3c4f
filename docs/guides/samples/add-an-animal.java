import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

public class AddAnAnimal {
  record NewPet(String name, long categoryId) {}

  record Pet(long id, String name, long categoryId, String status) {}

  record ApiError(String code, String message, int status) {}

  // Both are thread-safe: one of each serves the whole program and keeps connections open.
  static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  public static void main(String[] args) throws Exception {
    var body = JSON.writeValueAsBytes(new NewPet("Rex", 9007199254740993L));
    var request =
        HttpRequest.newBuilder(URI.create("http://localhost:3000/v1/pets"))
            .timeout(Duration.ofSeconds(15))
            .header("Authorization", "Bearer " + System.getenv("API_KEY"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "import-4711")
            .POST(BodyPublishers.ofByteArray(body))
            .build();
    var response = HTTP.send(request, BodyHandlers.ofByteArray());
    if (response.statusCode() != 201) {
      var error = JSON.readValue(response.body(), ApiError.class);
      throw new IOException(error.status() + " " + error.code() + ": " + error.message());
    }
    var pet = JSON.readValue(response.body(), Pet.class);
    System.out.println(pet.name() + " is in category " + pet.categoryId());
  }
}
