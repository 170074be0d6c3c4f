export default { displayName: 'package', preset: '../../jest.preset.js' };
