export default { displayName: 'context-checks', preset: '../../jest.preset.js' };
