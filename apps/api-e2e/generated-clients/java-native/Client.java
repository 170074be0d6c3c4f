import java.net.http.HttpClient;
import org.openapitools.client.ApiClient;
import org.openapitools.client.model.Error;

class Client {
  static ApiClient create() {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("BASE_URL") + "/v1");
    client.setHttpClientBuilder(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1));
    var authorization = "Bearer " + System.getenv("API_KEY");
    return client.setRequestInterceptor(request -> request.header("Authorization", authorization));
  }

  static String codeOf(String body) throws Exception {
    return ApiClient.createDefaultObjectMapper().readValue(body, Error.class).getCode();
  }
}
