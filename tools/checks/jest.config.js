export default { displayName: 'checks', preset: '../../jest.preset.js' };
