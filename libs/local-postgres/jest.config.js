export default { displayName: 'local-postgres', preset: '../../jest.preset.js' };
