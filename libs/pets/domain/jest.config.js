export default { displayName: 'pets-domain', preset: '../../../jest.preset.js' };
