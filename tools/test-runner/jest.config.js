export default { displayName: 'test-runner', preset: '../../jest.preset.js' };
