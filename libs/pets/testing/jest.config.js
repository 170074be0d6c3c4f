export default { displayName: 'pets-testing', preset: '../../../jest.preset.js' };
