/* global SwaggerUIBundle */
const base = new URL('.', location.href);
document.querySelector('#first-request').textContent = `curl -H 'Authorization: Bearer YOUR_API_KEY' '${new URL('v1/pets', base).href}'`;

SwaggerUIBundle({
  url: new URL('openapi.json', base).href,
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
  supportedSubmitMethods: ['get', 'post'],
});
