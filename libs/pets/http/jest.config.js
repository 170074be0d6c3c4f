export default { displayName: 'pets-http', preset: '../../../jest.preset.js' };
