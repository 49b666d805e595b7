/** A stage of a site that lets only some clients through; for tests of where it may stand, and of an option that nothing reads. */
export default {
  kind: 'stage',
  name: 'site-gate',
  summary: 'Refuses requests without X-Badge.',
  needs: ['tenant'],
  gives: [],
  rest: 'once',
  schema: {
    type: 'object',
    properties: { badge: { type: 'string', description: 'A badge of another make.', 'x-unread': true } },
    additionalProperties: false,
  },
  create: () => ({
    async handle(exchange, rest) {
      if (!exchange.caller.headers.has('x-badge')) throw new Error('no badge');
      return rest(exchange);
    },
  }),
};
