/** Compares the responses of a Loki and a proxy for generated logs and requests: see test/compare/README.md. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { openProxy } from '../conformance/target.js';
import { compareAll } from './comparison.js';
import { makeDataset } from './data/dataset.js';
import { flush, load } from './load.js';
import { partyAt, type Account } from './parties.js';
import type { Question } from './question.js';
import { jsonOf, tableOf, textOf } from './report.js';
import { families, makeQuestion } from './requests/index.js';

const { values: options } = parseArgs({
  options: {
    loki: { type: 'string' },
    'other-loki': { type: 'string', multiple: true, default: [] },
    proxy: { type: 'string' },
    backend: { type: 'string' },
    seed: { type: 'string', default: '1' },
    requests: { type: 'string', default: '1000' },
    families: { type: 'string', default: families.join(',') },
    only: { type: 'string' },
    streams: { type: 'string', default: '40' },
    lines: { type: 'string', default: '120' },
    end: { type: 'string' },
    tenants: { type: 'string' },
    account: { type: 'string', default: '200' },
    json: { type: 'string' },
    flush: { type: 'boolean', default: false },
  },
});

const { loki: lokiUrl } = options;
if (lokiUrl === undefined) {
  console.error(
    'npm run compare needs a Loki: --loki http://127.0.0.1:3100. It must take pushes for any tenant (auth_enabled: true, multi_tenant_queries_enabled: true,\nvolume_enabled and allow_structured_metadata), and keep three hours of old logs (reject_old_samples: false). test/compare/README.md shows a configuration.',
  );
  process.exit(2);
}
if (options.proxy !== undefined && options.backend === undefined) {
  console.error(
    '--proxy needs --backend, the VictoriaLogs behind it, for that is where the logs are pushed.',
  );
  process.exit(2);
}
process.exitCode = await run(lokiUrl);

async function run(loki: string): Promise<number> {
  const seed = Number(options.seed);
  const endSeconds = options.end === undefined ? Math.floor(Date.now() / 600_000) * 600 : Number(options.end);
  const tenants =
    options.tenants?.split(',') ?? ['a', 'b'].map((part) => `cmp-${seed}-${endSeconds}-${part}`);
  const accounts = new Map<string, Account>(
    tenants.map((tenant, index) => [
      tenant,
      {
        account: Number(options.account),
        project:
          options.tenants === undefined
            ? seed * 1_000_000 + ((endSeconds / 600) % 500_000) * 2 + index
            : index,
      },
    ]),
  );
  const data = makeDataset({
    seed,
    tenants,
    endNs: BigInt(endSeconds) * 1_000_000_000n,
    streams: Number(options.streams),
    linesPerStream: Number(options.lines),
  });
  const backend =
    options.backend === undefined
      ? await startDevBackend()
      : { url: options.backend, close: () => Promise.resolve() };
  const ours =
    options.proxy === undefined ? await openProxy(backend, [], [['tenant-map', mapOf(accounts)]]) : undefined;
  const otherUrls = options['other-loki'];
  const [lokiParty, proxyParty] = [partyAt(loki), partyAt(ours?.urls.main ?? options.proxy ?? '')];
  const otherParties = otherUrls.map(partyAt);
  try {
    const lost = await load([loki, ...otherUrls], backend.url, data, accounts);
    // Makes listings use the chunks in the store instead of the streams that an ingester knows.
    for (const url of otherUrls) await flush(url, data);
    const entries = data.tenants
      .flatMap(({ streams }) => streams)
      .reduce((sum, stream) => sum + stream.entries.length, 0);
    console.log(
      `seed ${seed}, logs until ${endSeconds}: ${entries} entries; the backend did not keep ${lost.length}`,
    );
    const chosen = options.families.split(',');
    const indexes =
      options.only === undefined
        ? Array.from({ length: Number(options.requests) }, (_, index) => index)
        : options.only.split(',').map(Number);
    const questions = indexes.map((index) => makeQuestion(seed, index, data, chosen));
    const comparison = await compareAll(
      inTurn(questions, () => flush(loki, data)),
      {
        data,
        sides: { loki: lokiParty.ask, proxy: proxyParty.ask, otherLokis: otherParties.map(({ ask }) => ask) },
        lost,
        found: (finding) => console.log(`\n${textOf(finding)}`),
      },
    );
    console.log(`\n${tableOf(comparison)}`);
    for (const { count, outcome, signature } of [...comparison.findings.values()].sort(
      (a, b) => b.count - a.count,
    ))
      console.log(`${String(count).padStart(5)} ${outcome} ${signature}`);
    if (options.json !== undefined) writeFileSync(options.json, jsonOf(comparison));
    return [...comparison.findings.values()].some(({ outcome }) => outcome === 'different') ? 1 : 0;
  } finally {
    await Promise.all([lokiParty, proxyParty, ...otherParties].map((party) => party.close()));
    await ours?.close();
    await backend.close();
  }
}

/** Questions that count chunks come last, after Loki has flushed, or are omitted. */
async function* inTurn(
  questions: readonly Question[],
  flushed: () => Promise<void>,
): AsyncGenerator<Question> {
  const isLater = ({ path }: Question): boolean => path === 'index/stats';
  yield* questions.filter((question) => !isLater(question));
  if (!options.flush) return;
  await flushed();
  yield* questions.filter(isLater);
}

function mapOf(accounts: ReadonlyMap<string, Account>): string {
  return JSON.stringify(
    Object.fromEntries(
      [...accounts].map(([tenant, { account, project }]) => [
        tenant,
        { account_id: String(account), project_id: String(project) },
      ]),
    ),
  );
}
