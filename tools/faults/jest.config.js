export default { displayName: 'faults', preset: '../../jest.preset.js' };
