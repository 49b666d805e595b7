import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import test from 'ava';
import { request } from 'undici';
import { WebSocket } from 'ws';
import { defineEndpoint, type EndpointPlugin, type UpgradeHandler } from '../../../core/plugin/index.js';
import { makePipeline, withPipeline } from '../../../core/testing/index.js';
import { telling } from './fixtures.js';

/** Sends a frame with the properties of its call. */
const tellingUpgrade: UpgradeHandler = async (call) => {
  const socket = await call.accept();
  const { orgId = '', categorizeLabels } = call.caller;
  await socket.send(`${call.route} ${orgId} ${String(categorizeLabels)}`);
};

const both: EndpointPlugin = defineEndpoint({
  name: 'fixture',
  summary: 'The tails of a test, one of them for a page.',
  servesAdmin: true,
  create: () => ({
    routes: new Map(['tail', 'ui_tail'].map((id) => [id, telling])),
    upgrades: new Map(['tail', 'ui_tail'].map((id) => [id, tellingUpgrade])),
  }),
});

interface Opened {
  readonly status: number;
  /** The body of an error response, or the first frame. */
  readonly text: string;
  /** The sub-protocol that the server chose. */
  readonly protocol: string;
}

async function open(
  url: string,
  headers: Readonly<Record<string, string>>,
  protocols: readonly string[] = [],
): Promise<Opened> {
  const socket = new WebSocket(url.replace('http', 'ws'), [...protocols], { headers });
  socket.on('error', () => undefined);
  const refused = once(socket, 'unexpected-response').then(async ([, response]) => {
    const { statusCode = 0 } = response as IncomingMessage;
    let text = '';
    for await (const chunk of response as IncomingMessage) text += String(chunk);
    return { status: statusCode, text, protocol: '' };
  });
  const told = once(socket, 'message').then(([data]) => ({
    status: 101,
    text: String(data),
    protocol: socket.protocol,
  }));
  // The other promise never settles.
  return Promise.race([refused, told]);
}

async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<Opened> {
  const { statusCode, body } = await request(url, { headers });
  return { status: statusCode, text: await body.text(), protocol: '' };
}

function carried(meaning: string, value: string): string {
  return `ref-proxy.${meaning}.${Buffer.from(value).toString('base64url')}`;
}

const pageTail = '/ui/api/tail';

test('a WebSocket of an admin route needs the admin token as its HTTP requests do', async (t) => {
  const pipeline = makePipeline({ endpoints: [both], server: { adminAuthToken: 'open-sesame' } });
  await withPipeline(pipeline, async ({ url }) => {
    const wrong: readonly Readonly<Record<string, string>>[] = [
      {},
      { 'x-admin-token': 'wrong' },
      { authorization: 'Bearer wrong' },
    ];
    for (const headers of wrong) {
      const refused = await open(url + pageTail, headers);
      t.is(refused.status, 401);
      t.deepEqual(refused, await ask(url + pageTail, headers));
    }
    const right: readonly Readonly<Record<string, string>>[] = [
      { 'x-admin-token': 'open-sesame' },
      { authorization: 'Bearer open-sesame' },
    ];
    for (const headers of right) {
      t.is((await open(url + pageTail, headers)).status, 101);
      t.is((await ask(url + pageTail, headers)).status, 200);
    }
    t.is((await open(`${url}/loki/api/v1/tail`, {})).status, 101, 'other routes need none');
  });
});

test('a WebSocket of an admin route is on the admin listener, and refused to other websites', async (t) => {
  await withPipeline(makePipeline({ endpoints: [both] }), async ({ url, proxy }) => {
    const admin = proxy.urls.admin ?? '';
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }]) {
      const refused = await open(admin + pageTail, headers);
      t.is(refused.status, 403);
      t.deepEqual(refused, await ask(admin + pageTail, headers));
    }
    t.is((await open(admin + pageTail, { origin: admin })).status, 101);
    t.is((await open(url + pageTail, {})).status, 404);
    t.is((await open(`${admin}/loki/api/v1/tail`, {})).status, 404);
  });
});

test('a page sends token, tenant and flags as sub-protocols, and the answer repeats none of them', async (t) => {
  const pipeline = makePipeline({ endpoints: [both], server: { adminAuthToken: 'open-sesame' } });
  await withPipeline(pipeline, async ({ url }) => {
    const token = carried('adminToken', 'open-sesame');
    const tenant = carried('tenant', 'team a');
    const flags = carried('encodingFlags', 'categorize-labels');
    t.deepEqual(await open(url + pageTail, {}, [token, tenant, flags, 'live']), {
      status: 101,
      text: 'ui_tail team a true',
      protocol: 'live',
    });
    t.is((await open(url + pageTail, {}, [carried('adminToken', 'wrong'), 'live'])).status, 401);
    t.is(
      (await open(url + pageTail, { 'x-scope-orgid': 'b' }, [token, tenant, 'live'])).text,
      'ui_tail b false',
      'the header of the request counts',
    );
    const broken = carried('tenant', 'a\r\nx-admin-token: b');
    t.is((await open(url + pageTail, {}, [token, broken, 'live'])).text, 'ui_tail  false');
  });
});

test('elsewhere a sub-protocol names no tenant, which a gateway may have taken away', async (t) => {
  await withPipeline(makePipeline({ endpoints: [both] }), async ({ url }) => {
    const tail = `${url}/loki/api/v1/tail`;
    t.deepEqual(await open(tail, {}, [carried('tenant', 'a'), 'live']), {
      status: 101,
      text: 'tail  false',
      protocol: 'live',
    });
  });
});
