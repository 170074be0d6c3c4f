import org.openapitools.client.ApiClient;
import org.openapitools.client.model.Error;

class Client {
  static ApiClient create() {
    var client = new ApiClient().setBasePath(System.getenv("BASE_URL") + "/v1");
    client.setBearerToken(System.getenv("API_KEY"));
    return client;
  }

  static String codeOf(String body) throws Exception {
    return Error.fromJson(body).getCode();
  }
}
