const override = { useBigInt: true, fetch: { jsonReviver: { path: 'exact-json.ts', name: 'exactIds' } } };
const baseUrl = { runtime: 'baseUrl', imports: [{ name: 'baseUrl', importPath: './program' }] };
export default { store: { input: 'openapi.json', output: { target: 'generated.ts', client: 'fetch', baseUrl, override } } };
