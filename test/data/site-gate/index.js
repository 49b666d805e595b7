/** A stage of a site that lets only some clients through; for tests of where it may stand. */
export default {
  kind: 'stage',
  name: 'site-gate',
  summary: 'Refuses requests without X-Badge.',
  needs: ['tenant'],
  gives: [],
  rest: 'once',
  create: () => ({
    async handle(exchange, rest) {
      if (!exchange.caller.headers.has('x-badge')) throw new Error('no badge');
      return rest(exchange);
    },
  }),
};
