export default { displayName: 'client-package', preset: '../../jest.preset.js' };
