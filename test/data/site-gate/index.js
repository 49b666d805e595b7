/** A site's stage that admits only some clients; tests use it to check its allowed positions, and an option that nothing reads. */
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
