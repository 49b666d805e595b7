import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import type { DevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { backendWithLogs, endMs, fileOf, runTool } from './shop-logs.js';
import { spreadSample } from '../../../setup/runs.js';

const folder = join(packageRoot(), 'test/data/dashboards');
let backend: DevBackend;

test.before(async () => {
  backend = await backendWithLogs();
});
test.after.always(() => backend.close());

interface ToldQuery {
  readonly name: string;
  readonly query: string;
  readonly verdict: string;
  readonly reads?: readonly {
    readonly candidate?: { readonly strategy: string };
    readonly others: readonly { readonly strategy: string; readonly declined?: string }[];
    readonly selected?: { readonly rows: number; readonly bytes: number };
  }[];
}

interface ToldAudit {
  readonly queries: readonly ToldQuery[];
  readonly notAudited: readonly unknown[];
}

interface ToldRun {
  readonly run: {
    readonly status: number;
    readonly strategies: readonly {
      readonly leaf: number;
      readonly strategy: string;
      readonly outcome: string;
    }[];
  };
}

async function auditedAlone(
  t: ExecutionContext,
  query: string,
  ...own: readonly string[]
): Promise<ToldQuery> {
  const file = await fileOf(t, 'query.logql', query);
  const { out } = await runTool('audit', ...own, `-until=${endMs / 1000}`, '-format=json', file);
  const [told] = (JSON.parse(out) as ToldAudit).queries;
  if (told === undefined) throw new Error(out);
  return told;
}

/** The strategies that read each range aggregation when the query is run. */
async function strategiesThatRan(
  query: string,
  isInstant: boolean,
  rangeMs: number,
): Promise<readonly string[]> {
  const times = isInstant
    ? [`-time=${endMs}000000`]
    : [`-start=${endMs - rangeMs}000000`, `-end=${endMs}000000`, `-step=${rangeMs > 3_600_000 ? 20 : 5}`];
  const { out, err } = await runTool('explain', '-json', '-run', `-backend=${backend.url}`, ...times, query);
  const { run } = JSON.parse(out) as ToldRun;
  if (run.status !== 200) throw new Error(`${query}: ${run.status} ${err}`);
  const ran = run.strategies.filter(({ outcome }) => outcome === 'ran');
  const byLeaf = new Map<number, Set<string>>();
  for (const { leaf, strategy } of ran) byLeaf.set(leaf, (byLeaf.get(leaf) ?? new Set()).add(strategy));
  return [...byLeaf].toSorted(([a], [b]) => a - b).map(([, names]) => [...names].join('+'));
}

/** Panels with an instant query. */
const instant: ReadonlySet<string> = new Set([
  'Most requested A',
  'Quiet pods A',
  'Busiest pods A',
  'Accepted A',
]);

async function auditedFolder(t: ExecutionContext, ...own: readonly string[]): Promise<readonly ToldQuery[]> {
  const { status, out, err } = await runTool(
    'audit',
    ...own,
    `-until=${endMs / 1000}`,
    '-format=json',
    folder,
  );
  t.is(status, 0, err);
  const { queries, notAudited } = JSON.parse(out) as ToldAudit;
  t.deepEqual(notAudited, []);
  return queries;
}

function predictedBy({ reads = [] }: ToldQuery): readonly string[] {
  return reads.flatMap(({ candidate }) => candidate?.strategy ?? []);
}

test.serial(
  'the strategies that audit predicts are those that run, for all queries of five dashboards, with counts of the backend and from plans alone',
  async (t) => {
    t.is(readdirSync(folder).length, 5);
    const counted = await auditedFolder(t, `-backend=${backend.url}`, '-rate=1000');
    const alone = await auditedFolder(t, '-variable=namespace=shop');
    t.is(counted.length, 41);
    for (const [index, told] of spreadSample([...counted.entries()], 3)) {
      const { name, query, verdict, reads = [] } = told;
      t.is(verdict, 'answered', query);
      const ran = await strategiesThatRan(query, instant.has(name), 3_600_000);
      t.deepEqual(ran, predictedBy(told), query);
      t.deepEqual(ran, predictedBy(alone[index] ?? told), query);
      t.true(reads.length > 0 && reads.every(({ selected }) => selected !== undefined), query);
    }
  },
);

test.serial(
  'where stored data excludes the predicted strategy, the one that runs is among the others',
  async (t) => {
    const queries = [
      // Nearly every line has a different value.
      'sum by (bytes) (count_over_time({job="web"} | json [5m]))',
    ];
    for (const query of queries) {
      const { reads = [] } = await auditedAlone(t, query);
      const [read] = reads;
      const open = read?.others.flatMap(({ strategy, declined }) =>
        declined === undefined ? [strategy] : [],
      );
      const [ran = ''] = await strategiesThatRan(query, false, 3_600_000);
      t.not(ran, read?.candidate?.strategy, query);
      t.true(open?.includes(ran), `${query}: ${ran}`);
    }
  },
);

test.serial('with counts, a selection without rows is known to have no lines', async (t) => {
  const query = 'sum(count_over_time({app="nothing"}[5m]))';
  const { reads = [] } = await auditedAlone(t, query, `-backend=${backend.url}`);
  t.is(reads[0]?.selected?.rows, 0);
  t.deepEqual(await strategiesThatRan(query, false, 3_600_000), [reads[0]?.candidate?.strategy ?? '']);
});
