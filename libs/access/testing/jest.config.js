export default { displayName: 'access-testing', preset: '../../../jest.preset.js' };
