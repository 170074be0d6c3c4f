const override = { useBigInt: true, mutator: { path: 'orval-fetch.ts', name: 'send' } };
export default { store: { input: 'openapi.json', output: { target: 'generated.ts', client: 'fetch', override } } };
