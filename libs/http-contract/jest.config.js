export default { displayName: 'http-contract', preset: '../../jest.preset.js' };
