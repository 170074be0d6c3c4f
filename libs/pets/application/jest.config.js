export default { displayName: 'pets-application', preset: '../../../jest.preset.js' };
