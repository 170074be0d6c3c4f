export default { displayName: 'api-e2e', preset: '../../jest.preset.js' };
