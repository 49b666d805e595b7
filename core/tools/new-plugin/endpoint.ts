import type { KindFiles, NewPlugin } from './plugin.js';

function endpointCode({ name, language, house }: NewPlugin): string {
  const isTypeScript = language === 'ts';
  const types = isTypeScript
    ? `/** Options, as the schema below describes them. */
export interface Options {
  readonly greeting: string;
}

`
    : '';
  return `${isTypeScript ? '' : '// @ts-check\n'}import { askTenant, defineEndpoint, jsonAnswer } from '${house.name}/plugin';

${types}/** Greets the tenant that the stages have found. */
export default defineEndpoint${isTypeScript ? '<Options>' : ''}({
  name: '${name}',
  summary: 'Greets clients by their tenant.',
  schema: {
    type: 'object',
    properties: {
      greeting: {
        type: 'string',
        minLength: 1,
        default: 'hello',
        description: 'What is said.',
        'x-flag': '${name}.greeting',
      },
    },
    additionalProperties: false,
  },
  ownRoutes: [{ id: '${name}', path: '/site/${name}/{name}' }],
  create: ({ greeting }) => ({
    routes: new Map([
      [
        '${name}',
        async (call) => {
          const tenant = await askTenant(call);
          return jsonAnswer({ greeting, name: call.pathParams.get('name'), tenant: tenant.id });
        },
      ],
    ]),
  }),
});
`;
}

function endpointTest({ name, language, house }: NewPlugin): string {
  const file = language === 'ts' ? '../pipeline.yaml' : './pipeline.yaml';
  return `import assert from 'node:assert/strict';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { runPipeline } from '${house.name}/testing';

const pipeline = fileURLToPath(new URL('${file}', import.meta.url));

test('${name} greets by tenant', async () => {
  const { status, json } = await runPipeline(pipeline, { path: '/site/${name}/me' }, { tenant: '7' });
  assert.equal(status, 200);
  assert.deepEqual(json, { greeting: 'hello', name: 'me', tenant: '7' });
});
`;
}

function endpointTests({ name }: NewPlugin): string {
  return `tests:
  - name: a client is greeted
    tenant: '7'
    request: { path: /site/${name}/me }
    expect:
      status: 200
      answer: { greeting: hello, name: me, tenant: '7' }
      calls: []
`;
}

export const endpointFiles: KindFiles = {
  title: 'an endpoint',
  list: 'endpoints',
  code: endpointCode,
  test: endpointTest,
  options: ['greeting: hello'],
  pipelineTest: endpointTests,
};
