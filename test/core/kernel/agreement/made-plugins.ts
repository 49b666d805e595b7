/** Texts of pipeline files, and of plugins in plain JavaScript without type checks. */
export const frame = (stages: string, endpoints = ''): string =>
  `version: 1\nstages:\n${stages}  - use: ./end.mjs\nendpoints:\n  - use: reference-api\n  - use: status\n${endpoints}`;
export const odd = frame('  - use: ./odd.mjs\n');
export const withOptions = (options: string): string => frame(`  - use: ./odd.mjs\n    with: ${options}\n`);
export const oddEndpoint = frame('', '  - use: ./odd.mjs\n');

/** A stage that does nothing, with some parts replaced. */
export const stage = (parts: string): string =>
  `export default { kind: 'stage', name: 'odd', summary: 's', needs: [], gives: [], rest: 'once',
  create: () => ({ handle: (exchange, rest) => rest(exchange) }),
  ${parts} };`;
export const handling = (body: string, parts = ''): string =>
  stage(`${parts} create: (options, host) => ({ handle: async (exchange, rest) => { ${body} } }),`);
export const endpoint = (parts: string): string =>
  `export default { kind: 'endpoint', name: 'odd', summary: 's',
  ownRoutes: [{ id: 'odd', path: '/site/odd' }],
  create: () => ({ routes: new Map([['odd', async () => ({ kind: 'names', values: [], warnings: [] })]]) }),
  ${parts} };`;
/** An endpoint that only answers after it has been started. */
export const classEndpoint = `class Odd {
  routes = new Map([['odd', async () => ({ kind: 'names', values: this.values.slice(), warnings: [] })]]);
  async start() { this.values = []; }
}
${endpoint('create: () => new Odd(),')}`;
export const metric = (name: string, spec: string): string => stage(`metrics: { '${name}': ${spec} },`);
export const schema = (properties: string, more = ''): string =>
  stage(`schema: { type: 'object', additionalProperties: false, properties: { ${properties} }, ${more} },`);
