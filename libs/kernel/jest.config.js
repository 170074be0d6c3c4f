export default { displayName: 'kernel', preset: '../../jest.preset.js' };
