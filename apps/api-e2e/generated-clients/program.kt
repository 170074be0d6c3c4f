import org.openapitools.client.apis.PetsApi
import org.openapitools.client.infrastructure.*
import org.openapitools.client.models.*

fun main() {
    ApiClient.accessToken = System.getenv("API_KEY")
    val pets = PetsApi(System.getenv("BASE_URL") + "/v1")
    for (name in listOf("Rex", "Rex", "Mia")) {
        try {
            val pet = pets.createPet(NewPet(name, Long.MAX_VALUE), "import-1")
            println("${pet.id} ${pet.categoryId}")
        } catch (error: ClientException) {
            val body = (error.response as ClientError<*>).body as String
            println("${error.statusCode} ${Serializer.moshi.adapter(Error::class.java).fromJson(body)!!.code}")
        }
    }
    var cursor: String? = null
    do {
        val page = pets.listPetsWithHttpInfo(1, cursor, null, null, null, null, null, null) as Success
        for (pet in page.data!!) println("${pet.name} ${pet.categoryId}")
        val link = page.headers.filterKeys { it.equals("Link", true) }.values.flatten().joinToString()
        cursor = Regex("[?&]cursor=([^&>]+)").find(link)?.groupValues?.get(1)
    } while (cursor != null)
}
