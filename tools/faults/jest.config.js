export default { displayName: 'chaos', preset: '../../jest.preset.js' };
