export default { displayName: 'client', preset: '../../jest.preset.js' };
