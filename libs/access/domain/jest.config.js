export default { displayName: 'access-domain', preset: '../../../jest.preset.js' };
