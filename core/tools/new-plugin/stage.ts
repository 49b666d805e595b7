import type { KindFiles, NewPlugin } from './plugin.js';

function stageCode({ name, language, house }: NewPlugin): string {
  const isTypeScript = language === 'ts';
  const types = isTypeScript
    ? `/** Options, as the schema below describes them. */
export interface Options {
  readonly label: string;
  readonly value: string;
}

`
    : '';
  return `${isTypeScript ? '' : '// @ts-check\n'}import { defineStage, makeMatcher, mapSelectors } from '${house.name}/plugin';

${types}/** Adds a matcher to every selector of every request, by the syntax tree: no text of a client can get around it. */
export default defineStage${isTypeScript ? '<Options>' : ''}({
  name: '${name}',
  summary: 'Lets every request see one value of a label only.',
  schema: {
    type: 'object',
    properties: {
      label: {
        type: 'string',
        minLength: 1,
        default: 'env',
        description: 'Label that is held to the value.',
        'x-flag': '${name}.label',
      },
      value: {
        type: 'string',
        minLength: 1,
        default: 'production',
        description: 'Value that requests may see.',
        'x-flag': '${name}.value',
      },
    },
    additionalProperties: false,
  },
  needs: [],
  gives: [],
  rest: 'once',
  create: ({ label, value }) => ({
    handle: (exchange, rest) =>
      rest(
        exchange.derive({
          request: mapSelectors(exchange.request, (matchers) => [...matchers, makeMatcher(label, '=', value)]),
        }),
      ),
  }),
});
`;
}

function stageTest({ name, house }: NewPlugin): string {
  return `import assert from 'node:assert/strict';
import test from 'node:test';
import { makeExchange, makeLogAnswer, makeLogRequest, runStage } from '${house.name}/testing';
import plugin from './index.js';

test('${name} narrows a query', async () => {
  const exchange = makeExchange({ request: makeLogRequest('{app="shop"}') });
  const below = makeLogAnswer({ app: 'shop' }, ['sold']);
  const { seen } = await runStage(plugin, { label: 'env', value: 'production' }, exchange, async () => below);
  const request = seen[0]?.request;
  assert(request?.op === 'query_range');
  assert.equal(request.query.text, '{app="shop", env="production"}');
});
`;
}

function stageTests(): string {
  return `lines:
  - { labels: { app: shop, env: production }, line: sold }
  - { labels: { app: shop, env: staging }, line: tried }
tests:
  - name: only lines of production are found
    request:
      path: /loki/api/v1/query_range
      params: { query: '{app="shop"}' }
    expect:
      status: 200
      answerAt:
        data.result.length: 1
        data.result[0].stream.env: production
      someCalls:
        - path: /select/logsql/query
          logsql: '{app="shop",env="production"}'
`;
}

export const stageFiles: KindFiles = {
  title: 'a stage',
  list: 'stages',
  code: stageCode,
  test: stageTest,
  options: ['label: env', 'value: production'],
  pipelineTest: stageTests,
};
