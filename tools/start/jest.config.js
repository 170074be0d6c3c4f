export default { displayName: 'start', preset: '../../jest.preset.js' };
