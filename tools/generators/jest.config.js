export default { displayName: 'generators', preset: '../../jest.preset.js' };
