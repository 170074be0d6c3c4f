export default { displayName: 'service-e2e', preset: '../../jest.preset.js' };
