export default { displayName: 'docs-checks', preset: '../../jest.preset.js' };
