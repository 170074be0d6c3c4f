import java.net.http.HttpClient;
import org.openapitools.client.ApiClient;
import org.openapitools.client.model.Error;

class Client {
  static ApiClient create() {
    var client = new ApiClient().setHttpClientBuilder(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1));
    client.updateBaseUri(System.getenv("BASE_URL") + "/v1");
    return client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("API_KEY")));
  }

  static String codeOf(String body) throws Exception {
    return ApiClient.createDefaultObjectMapper().readValue(body, Error.class).getCode();
  }
}
