// A site's stage as a module by path: the result of defineStage, with a schema that has a required option.
export default {
  kind: 'stage',
  name: 'add-matcher',
  summary: 'adds a matcher to every query',
  needs: [],
  gives: [],
  rest: 'once',
  schema: {
    type: 'object',
    properties: {
      label: { type: 'string', minLength: 1, description: 'Label to match.' },
      wait: { type: 'string', format: 'duration', default: '2s', description: 'A duration.' },
    },
    required: ['label'],
    additionalProperties: false,
  },
  create: () => ({ handle: (exchange, rest) => rest(exchange) }),
};
