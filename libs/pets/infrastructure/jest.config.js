export default { displayName: 'pets-infrastructure', preset: '../../../jest.preset.js' };
