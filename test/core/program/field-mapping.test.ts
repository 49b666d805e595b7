import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { defineStage, type StagePlugin } from '../../../core/plugin/index.js';
import {
  makePipeline,
  namesOptions,
  optionsOf,
  withPipeline,
  withProxyFile,
  type ProxyUnderTest,
} from '../../../core/testing/index.js';
import backendStage from '../../../plugins/backend/index.js';
import peerCache from '../../../plugins/peer-cache/index.js';
import referenceApi from '../../../plugins/reference-api/index.js';
import responseShape from '../../../plugins/response-shape/index.js';
import tenancy from '../../../plugins/tenancy/index.js';
import tier0 from '../../../plugins/tier0/index.js';
import translate from '../../../plugins/translate/index.js';
import { pushLoki } from '../../plugins/embedded-backend/harness.js';
import { gate } from '../http/fixtures.js';

const yaml = (backend: string, names: string): string => `
version: 1
${names}
stages:
  - use: tenancy
  - use: tier0
  - use: translate
  - use: window-split
  - use: peer-cache
  - use: backend
    with: { url: '${backend}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
`;
const mapping = (label: string): string => JSON.stringify([{ vl_field: 'app', loki_label: label }]);
const inFile = (label: string): string => `names: { fieldMapping: ${mapping(label)} }`;

/** A backend with a three hours old line, and a function that returns the labels that the proxy shows for its stream. */
async function stored(t: ExecutionContext) {
  const backend = await startDevBackend({});
  t.teardown(() => backend.close());
  const pushedNs = BigInt(Date.now() - 3 * 3_600_000) * 1_000_000n;
  await pushLoki(backend.url, { app: 'a' }, [[pushedNs, 'one']], '?disable_message_parsing=1');
  const hourNs = 3_600_000_000_000n;
  const query = new URLSearchParams({
    query: '{service_name=~".+"}',
    start: String(pushedNs - 5n * hourNs),
    end: String(pushedNs + hourNs),
  });
  const ask = async (url: string): Promise<string> => {
    const answer = await fetch(`${url}/loki/api/v1/query_range?${query.toString()}`);
    const { data } = (await answer.json()) as {
      data: { result: readonly { stream: Record<string, string> }[] };
    };
    const names = data.result.flatMap(({ stream }) => Object.keys(stream));
    return names.filter((name) => !['service_name', 'detected_level'].includes(name)).join();
  };
  return { backend, ask };
}

interface Setting {
  readonly names?: string;
  readonly env?: Record<string, string>;
  readonly flags?: Readonly<Record<string, string>>;
}
interface Under extends ProxyUnderTest {
  /** The current label of the stored stream. */
  readonly ask: () => Promise<string>;
  readonly write: (names: string) => Promise<void>;
  readonly logged: (body: string) => number;
  /** The number of cached responses, whole or in parts. */
  readonly kept: (cache: 'compat' | 'memory') => Promise<string | undefined>;
}

async function under(
  t: ExecutionContext,
  setting: Setting,
  use: (under: Under) => Promise<void>,
): Promise<void> {
  const { backend, ask } = await stored(t);
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-mapping-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'pipeline.yaml');
  const write = (names: string): Promise<void> => writeFile(file, yaml(backend.url, names));
  await write(setting.names ?? '');
  const flags = { 'server.register-instrumentation': 'true', ...setting.flags };
  await withProxyFile(
    file,
    async (proxy) => {
      const kept = async (cache: string): Promise<string | undefined> => {
        const text = await (await fetch(`${proxy.url}/metrics`)).text();
        return new RegExp(`^ref_proxy_${cache}_cache_entries (.+)$`, 'm').exec(text)?.[1];
      };
      const logged = (body: string): number =>
        proxy.log.records.filter((record) => record.get('body') === body).length;
      await use({ ...proxy, ask: () => ask(proxy.url), write, logged, kept });
    },
    { env: setting.env ?? {}, flags },
  );
}

test.serial(
  'a field mapping that changed in the file counts from the reload on, whatever was kept before',
  async (t) => {
    await under(t, { names: inFile('team') }, async ({ ask, write, proxy, logged, kept }) => {
      t.is(await ask(), 'team');
      await write(inFile('crew'));
      t.is(await ask(), 'team');
      t.not(await kept('memory'), '0');
      await proxy.reload();
      t.is(await kept('memory'), '0');
      t.is(await ask(), 'crew');
      t.is(logged('pipeline reloaded'), 1);
      await write('');
      await proxy.reload();
      t.is(await ask(), 'app');
      await write(inFile('team'));
      await proxy.reload();
      t.is(await ask(), 'team');
      t.is(logged('pipeline reloaded'), 3);
    });
  },
);

test.serial('FIELD_MAPPING is read again at a reload', async (t) => {
  const env: Record<string, string> = { FIELD_MAPPING: mapping('team') };
  await under(t, { env }, async ({ ask, proxy }) => {
    t.is(await ask(), 'team');
    env['FIELD_MAPPING'] = mapping('crew');
    await proxy.reload();
    t.is(await ask(), 'crew');
  });
});

test.serial(
  'a field mapping given by the flag stays, and a reload drops the finished answers all the same',
  async (t) => {
    const flags = { 'field-mapping': mapping('team') };
    await under(t, { flags }, async ({ ask, write, proxy, logged, kept }) => {
      t.is(await ask(), 'team');
      t.is(await kept('compat'), '1');
      await write(inFile('crew'));
      await proxy.reload();
      t.is(await kept('compat'), '0');
      t.is(logged('response cache flushed by a reload'), 1);
      t.is(logged('pipeline reloaded'), 0);
      t.is(await ask(), 'team');
    });
  },
);

const broken: readonly (readonly [what: string, names: string, why: RegExp])[] = [
  ['is not YAML', 'names: [', /./],
  ['has another form', 'names: { fieldMapping: [{ vl_field: a }] }', /loki_label/],
];
for (const [what, names, why] of broken) {
  test.serial(`the old field mapping stays while the new one ${what}`, async (t) => {
    await under(t, { names: inFile('team') }, async ({ ask, write, proxy, log }) => {
      await write(names);
      await proxy.reload();
      const record = await log.find(
        (found) => found.get('body') === 'reload refused, the previous pipeline keeps serving',
      );
      t.regex(JSON.stringify([...record]), why);
      t.is(await ask(), 'team');
      await write(inFile('crew'));
      await proxy.reload();
      t.is(await ask(), 'crew');
    });
  });
}

test.serial(
  'a request that a reload overtakes ends under the field mapping that it began with, and is not kept',
  async (t) => {
    const { backend, ask } = await stored(t);
    const reached = gate();
    const held = gate();
    const holding = defineStage({
      name: 'hold',
      summary: 'Holds what is planned.',
      needs: [],
      gives: [],
      rest: 'once',
      create: () => ({
        handle: async (exchange, rest) => {
          reached.open();
          await held.opened;
          return rest(exchange);
        },
      }),
    });
    const placed = (plugin: object, options: Readonly<Record<string, unknown>> = {}) => {
      // The stages that a plugin needs before it are checked when the pipeline starts.
      const stage = plugin as StagePlugin;
      return { plugin: stage, options: optionsOf(stage.name, options) };
    };
    let label = 'team';
    const names = () => ({ fieldMapping: [{ vl_field: 'app', loki_label: label }] });
    const pipeline = makePipeline({
      names: names(),
      stages: [
        placed(tenancy),
        placed(tier0),
        placed(translate),
        { plugin: holding as unknown as StagePlugin },
        placed(peerCache),
        placed(backendStage, { url: backend.url }),
        placed(responseShape),
      ],
      endpoints: [referenceApi],
    });
    const reread = () =>
      Promise.resolve({ pipeline: { ...pipeline, names: namesOptions(names()) }, findings: [] });
    await withPipeline({ ...pipeline, reread }, async ({ url, proxy }) => {
      const early = ask(url);
      await reached.opened;
      label = 'crew';
      await proxy.reload();
      held.open();
      t.is(await early, 'team');
      t.is(await ask(url), 'crew');
    });
  },
);
