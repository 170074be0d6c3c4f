export default { displayName: 'pets-contract', preset: '../../../jest.preset.js' };
