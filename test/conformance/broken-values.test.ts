import test from 'ava';
import { withProxyFile } from '../../core/testing/index.js';
import { ask, storeRows } from './store-rows.js';

const values = ['red\ufffdhot', 'red hot', 'redhot', 'red\ufffd'];

test.serial(
  'values with bytes that are no text are found by the spaces that are shown for them',
  async (t) => {
    const store = await storeRows(
      ['app'],
      values.map((team, index) => ({ _time: `2026-11-01T00:10:0${index}Z`, _msg: 'x', app: 'a', team })),
    );
    const found = async (url: string, filter: string): Promise<readonly unknown[]> => {
      const { body } = await ask(url, 'query_range', { query: `{app="a"} | team${filter}` });
      // The body has the shape of a Loki log response.
      const { data } = body as unknown as {
        readonly data: {
          readonly result: readonly {
            readonly stream: { readonly team: string };
            readonly values: unknown[];
          }[];
        };
      };
      return data.result.flatMap(({ stream, values: lines }) => lines.map(() => stream.team)).sort();
    };
    try {
      await withProxyFile(
        'pipelines/reference-compatible.yaml',
        async ({ url }) => {
          t.deepEqual(await found(url, '="red hot"'), ['red hot', 'red hot']);
          t.deepEqual(await found(url, '=~"red hot|redhot"'), ['red hot', 'red hot', 'redhot']);
          t.deepEqual(await found(url, '=~"re.\\\\sh.t"'), ['red hot', 'red hot']);
          t.deepEqual(await found(url, '=~".*d h.*"'), ['red hot', 'red hot']);
          t.deepEqual(await found(url, '="red\ufffdhot"'), []);
          t.deepEqual(await found(url, '!="red\ufffdhot"'), ['red ', 'red hot', 'red hot', 'redhot']);
          t.deepEqual(await found(url, '!="red hot"'), ['red ', 'redhot']);
        },
        { flags: { backend: store.url } },
      );
    } finally {
      await store.close();
    }
  },
);
