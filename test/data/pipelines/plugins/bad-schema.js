export default {
  kind: 'service',
  name: 'bad-schema',
  summary: 'its schema is none',
  schema: { type: 'object', properties: { a: { type: 'text' } } },
  create: () => ({}),
};
