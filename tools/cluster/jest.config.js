export default { displayName: 'cluster', preset: '../../jest.preset.js' };
