export default { displayName: 'deployment', preset: '../../jest.preset.js' };
