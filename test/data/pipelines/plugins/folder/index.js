export default { kind: 'service', name: 'in-a-folder', summary: 'index of a folder', create: () => ({}) };
