const sdk = { name: '@hey-api/sdk', transformer: true };
export default { input: 'openapi.json', output: 'generated', plugins: ['@hey-api/client-fetch', '@hey-api/transformers', sdk] };
