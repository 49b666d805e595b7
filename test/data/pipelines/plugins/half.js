export default { kind: 'stage', name: 'half' };
