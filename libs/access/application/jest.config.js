export default { displayName: 'access-application', preset: '../../../jest.preset.js' };
