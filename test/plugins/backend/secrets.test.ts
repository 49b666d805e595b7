import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { request } from 'undici';
import { withProxyFile, type FileSettings, type ProxyUnderTest } from '../../../core/testing/index.js';

/** A server that rejects every query with a message that echoes the request, and more. */
async function withGossip(
  saying: (headers: IncomingHttpHeaders) => string,
  use: (host: string, asked: readonly IncomingMessage[]) => Promise<void>,
): Promise<void> {
  const asked: IncomingMessage[] = [];
  const server = createServer((question, response) => {
    asked.push(question);
    const isQuestion = /select|rules|v1\/metrics/.test(question.url ?? '');
    response.statusCode = isQuestion ? 400 : 200;
    response.end(isQuestion ? saying(question.headers) : 'OK');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await use(host, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function withFlags(
  flags: Readonly<Record<string, string>>,
  use: (under: ProxyUnderTest) => Promise<void>,
  settings: FileSettings = {},
): Promise<void> {
  return withProxyFile('pipelines/reference-compatible.yaml', use, { ...settings, flags });
}

/** The text in each encoding in which a server may echo it. */
function spellings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  return [text, encodeURIComponent(text), bytes.toString('base64'), bytes.toString('base64url')];
}

async function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await request(`${url}/loki/api/v1/query_range?query=%7Bapp%3D%22a%22%7D`, { headers });
  return answer.body.text();
}

async function logged({ log, proxy }: ProxyUnderTest, message = 'request failed'): Promise<string> {
  await log.find((record) => record.get('body') === message);
  await proxy.close();
  return JSON.stringify(log.records.map((record) => Object.fromEntries(record)));
}

test.serial(
  'no credentials of the proxy or of a client come back in an error text or a record',
  async (t) => {
    const own = 'bu:BASIC&SECRET?own';
    const client = {
      authorization: 'Bearer CLIENT/SECRET+1',
      cookie: 'sid=COOKIE SECRET 2',
      'x-key': 'HEADERSECRET3',
    };
    const secrets = ['BASIC&SECRET?own', own, 'CLIENT/SECRET+1', 'COOKIE SECRET 2', 'HEADERSECRET3'];
    const saying = (headers: IncomingHttpHeaders): string => {
      const said = [headers.authorization, headers.cookie, headers['x-key'], ...secrets.flatMap(spellings)];
      return `not allowed: ${said.join(' , ')}`;
    };
    await withGossip(saying, async (host) => {
      const flags = {
        backend: `http://${host}`,
        'backend-basic-auth': own,
        'forward-headers': 'x-key,authorization',
        'forward-cookies': '*',
      };
      for (const isRaw of [false, true])
        await withFlags({ ...flags, 'debug-log-raw-queries': String(isRaw) }, async (under) => {
          const shown = await ask(under.url, client);
          t.regex(shown, /not allowed/);
          const log = await logged(under);
          t.regex(log, /not allowed/);
          for (const secret of secrets.flatMap(spellings)) {
            t.notRegex(shown, literally(secret));
            t.notRegex(log, literally(secret));
          }
          t.notRegex(log, literally(Buffer.from(own).toString('base64').replace(/=+$/, '')));
        });
    });
  },
);

function literally(text: string): RegExp {
  return new RegExp(
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  );
}

test.serial('what has the form of credentials is hidden, whoever they belong to', async (t) => {
  const text =
    'bad gateway: http://who:else@h/ Basic YnU6QkFTSUM= bearer abc.def; basic authentication needed';
  await withGossip(
    () => text,
    async (host) => {
      await withFlags({ backend: `http://${host}`, 'backend.hide-addresses': 'false' }, async (under) => {
        const shown = await ask(under.url);
        t.regex(
          shown,
          /http:\/\/\(hidden\)@h\/ Basic \(hidden\) bearer \(hidden\); basic authentication needed/,
        );
        t.notRegex(await logged(under), /who:else|YnU6|abc\.def/);
      });
    },
  );
});

const places = [
  '10.9.8.7:9428',
  '[fd00::17]:9491',
  'fd00::18',
  'vlstorage-3.internal:9491',
  'https://node-7/internal/select',
  '/var/lib/victoria-logs/partitions/20261101',
  'storage.svc',
];

test.serial('addresses and paths of the backend are told as the option says', async (t) => {
  const text = `cannot read: ${places.join(' , ')} at 12:34:56 limit:1000 /select/logsql/query`;
  await withGossip(
    () => text,
    async (host) => {
      await withFlags({ backend: `http://${host}` }, async ({ url }) => {
        const shown = await ask(url);
        for (const place of places) t.notRegex(shown, literally(place));
        t.regex(shown, /cannot read: .* at 12:34:56 limit:1000 \/select\/logsql\/query/);
      });
      await withFlags({ backend: `http://${host}`, 'backend.hide-addresses': 'false' }, async ({ url }) => {
        const shown = await ask(url);
        for (const place of places) t.regex(shown, literally(place));
      });
    },
  );
});

test.serial('where the backend cannot be reached, its address is in the log only', async (t) => {
  let gone = '';
  await withGossip(
    () => '',
    (host) => Promise.resolve(void (gone = host)),
  );
  await withFlags({ backend: `http://bu:URLSECRET@${gone}` }, async (under) => {
    const shown = await ask(under.url);
    t.regex(shown, /backend unreachable: connect ECONNREFUSED \.\.\./);
    const log = await logged(under);
    t.regex(log, literally(`connect ECONNREFUSED ${gone}`));
    t.notRegex(log, /URLSECRET/);
  });
});

const pair = 'us er:URL@SECRET';
const inUrl = 'us%20er:URL%40SECRET';
const expected = `Basic ${Buffer.from(pair).toString('base64')}`;

test.serial('credentials in the address of a backend are used, and hidden', async (t) => {
  const saying = ({ authorization = '' }: IncomingHttpHeaders): string =>
    `no: ${authorization} ${pair} ${inUrl} URL@SECRET URL%40SECRET`;
  await withGossip(saying, async (host, asked) => {
    const flags = {
      backend: `http://${inUrl}@${host}/base`,
      'backend-metrics-url': `http://${inUrl}@${host}/page`,
      'ruler-backend': `http://${inUrl}@${host}/ruler`,
      'cold-enabled': 'true',
      'cold-backend': `http://${inUrl}@${host}/cold`,
      'cold-boundary': '1ms',
      'backend-version-strict': 'false',
    };
    await withFlags(flags, async (under) => {
      const rules = await request(`${under.url}/loki/api/v1/rules`);
      const shown = (await ask(under.url)) + (await rules.body.text());
      t.regex(shown, /no: /);
      const log = await logged(under);
      t.regex(log, /no: /);
      t.notRegex(shown + log, /URL(@|%40)SECRET/);
      t.notRegex(shown + log, literally(expected.slice('Basic '.length, -2)));
    });
    for (const path of ['/base/select/', '/page', '/ruler/api/v1/rules', '/cold/manifest/range']) {
      const calls = asked.filter(({ url = '' }) => url.startsWith(path));
      t.true(calls.length > 0, path);
      for (const { headers } of calls) t.is(headers.authorization, expected, path);
    }
  });
});

test.serial(
  'credentials of a client come before those of the address, and never go to a cold backend that has its own',
  async (t) => {
    await withGossip(
      () => 'no',
      async (host, asked) => {
        const flags = {
          backend: `http://bu:URLSECRET@${host}/hot`,
          'forward-authorization': 'true',
          'cold-enabled': 'true',
          'cold-backend': `http://cold:COLDSECRET@${host}/cold`,
          'cold-boundary': '1ms',
          'cold-overlap': '1000h',
        };
        await withFlags(flags, async ({ url }) => {
          await ask(url, { authorization: 'Bearer CLIENT' });
        });
        const shown = (path: string): ReadonlySet<string | undefined> =>
          new Set(
            asked.filter(({ url = '' }) => url.startsWith(path)).map(({ headers }) => headers.authorization),
          );
        t.true(shown('/hot/select/logsql/').has('Bearer CLIENT'));
        t.deepEqual(
          [...shown('/cold/select/logsql/')],
          [`Basic ${Buffer.from('cold:COLDSECRET').toString('base64')}`],
        );
      },
    );
  },
);
