import type { KindFiles, NewPlugin } from './plugin.js';

function serviceCode({ name, language, house }: NewPlugin): string {
  const isTypeScript = language === 'ts';
  const types = isTypeScript
    ? `/** Options, as the schema below describes them. */
export interface Options {
  /** Milliseconds. */
  readonly every: number;
  readonly words: string;
}

`
    : '';
  return `${isTypeScript ? '' : '// @ts-check\n'}import { defineService } from '${house.name}/plugin';

${types}/** Says something now and then, from when the proxy starts until it stops. */
export default defineService${isTypeScript ? '<Options>' : ''}({
  name: '${name}',
  summary: 'Says something now and then.',
  schema: {
    type: 'object',
    properties: {
      every: {
        type: 'string',
        format: 'duration',
        default: '30s',
        description: 'Time between two records in the log.',
        'x-flag': '${name}.every',
      },
      words: {
        type: 'string',
        minLength: 1,
        default: 'still here',
        description: 'What is said.',
        'x-flag': '${name}.words',
      },
    },
    additionalProperties: false,
  },
  create({ every, words }, host) {
    let timer${isTypeScript ? ': NodeJS.Timeout | undefined' : ''};
    return {
      async start() {
        timer = setInterval(() => host.log.info(words), every);
      },
      ready: () => (timer === undefined ? '${name} not started' : undefined),
      async stop() {
        clearInterval(timer);
      },
    };
  },
});
`;
}

function serviceTest({ name, house }: NewPlugin): string {
  return `import assert from 'node:assert/strict';
import test from 'node:test';
import { makeHost } from '${house.name}/testing';
import plugin from './index.js';

test('${name} says its words while it runs', async () => {
  const host = makeHost();
  const service = plugin.create({ every: 1, words: 'hello' }, host);
  await service.start?.(new AbortController().signal);
  while (host.records.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await service.stop?.();
  assert.equal(host.records[0]?.body, 'hello');
});
`;
}

function serviceTests(): string {
  return `lines:
  - { labels: { app: shop }, line: sold }
tests:
  - name: requests are answered beside it
    request:
      path: /loki/api/v1/query_range
      params: { query: '{app="shop"}' }
    expect:
      status: 200
      answerAt:
        data.result.length: 1
`;
}

export const serviceFiles: KindFiles = {
  title: 'a service',
  list: 'services',
  code: serviceCode,
  test: serviceTest,
  options: ['every: 30s', 'words: still here'],
  pipelineTest: serviceTests,
};
