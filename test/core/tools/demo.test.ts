import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import test from 'ava';
import { run } from '../program/child.js';

/** Takes a port if it is free. */
async function take(port: number): Promise<Server> {
  const server = createServer();
  const done = new Promise((resolve) => server.once('listening', resolve).once('error', resolve));
  server.listen(port);
  await done;
  return server;
}

/** Reads the demo's output until it says how to stop the demo. */
async function welcomeOf(child: ReturnType<typeof run>): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (text.includes('Stop with Ctrl-C')) return text;
  }
  throw new Error(`the demo ended: ${text}`);
}

test.serial(
  'where its ports are taken the demo takes others, and all addresses that it prints are right',
  async (t) => {
    const taken = await Promise.all([3100, 3101, 9429].map(take));
    t.teardown(() => taken.forEach((server) => server.close()));
    const child = run(['demo'], ['ignore', 'pipe', 'inherit']);
    const ended = once(child, 'exit');
    t.teardown(() => child.kill('SIGKILL'));
    const text = await welcomeOf(child);
    const address = (name: string): string => new RegExp(`^${name} +(http:\\S+)`, 'm').exec(text)?.[1] ?? '';
    t.notRegex(text, /:(?:3100|3101|9429)\b/);
    const labels = await fetch(`${address('ref-proxy')}/loki/api/v1/labels`);
    t.regex(await labels.text(), /"service_name"/);
    t.regex(await (await fetch(address('page'))).text(), /<script/);
    t.is(await (await fetch(`${address('backend')}/health`)).text(), 'OK');
    t.is([...text.matchAll(/^ {2}\d\. /gm)].length, 3);
    const queries = [...text.matchAll(/curl -sG (\S+) --data-urlencode 'query=([^']+)' -d (\S+)/g)];
    t.is(queries.length, 3);
    for (const [, url = '', query = '', since = ''] of queries) {
      const answer = await fetch(`${url}?${new URLSearchParams({ query }).toString()}&${since}`);
      t.regex(await answer.text(), /"result":\[\{/, query);
    }
    const chart = new URL(/^ +or as a chart: (\S+)$/m.exec(text)?.[1] ?? '');
    t.is(chart.origin + chart.pathname, address('page'));
    t.is(new URLSearchParams(chart.hash.slice(1)).get('query') ?? '', queries[0]?.[2] ?? 'none');
    child.kill('SIGINT');
    t.deepEqual(await ended, [0, null]);
  },
);
