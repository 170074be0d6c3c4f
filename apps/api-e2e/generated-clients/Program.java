import java.util.List;
import java.util.regex.Pattern;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.PetsApi;
import org.openapitools.client.model.NewPet;

public class Program {
  public static void main(String[] args) throws Exception {
    var pets = new PetsApi(Client.create());
    for (var name : List.of("Rex", "Rex", "Mia")) {
      try {
        var pet = pets.createPet(new NewPet().name(name).categoryId(Long.MAX_VALUE), "import-1", null, null, null);
        System.out.println(pet.getId() + " " + pet.getCategoryId());
      } catch (ApiException error) {
        System.out.println(error.getCode() + " " + Client.codeOf(error.getResponseBody()));
      }
    }
    String cursor = null;
    do {
      var page = pets.listPetsWithHttpInfo(1, cursor, null, null, null, null, null, null);
      for (var pet : page.getData()) System.out.println(pet.getName() + " " + pet.getCategoryId());
      var links = page.getHeaders().getOrDefault("link", List.of());
      var next = Pattern.compile("[?&]cursor=([^&>]+)").matcher(String.join(", ", links));
      cursor = next.find() ? next.group(1) : null;
    } while (cursor != null);
  }
}
