export default { displayName: 'access-infrastructure', preset: '../../../jest.preset.js' };
