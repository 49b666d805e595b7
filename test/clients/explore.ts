/** Grafana Explore: splitting of long ranges, log context, live tail. */
import { holds, present, same } from './check.js';
import { hourMs, minuteMs, type DemoEntry } from './demo-data.js';
import { featuresOf } from './feature.js';
import { Grafana } from './grafana.js';
import { labelKey, type GrafanaSeries } from './grafana-reader.js';
import { between, countPoints, indexLabels, inOrder, lineKey, ofService, wantedOrder } from './oracle.js';
import { Tail } from './tail.js';

const dayMs = 24 * hourMs;

export const explore = featuresOf('Grafana Explore', 'Grafana data source', [
  {
    feature:
      'a log query over more than a day: one day after the other, newest first, with the rest of the limit',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const startMs = data.endMs - 29 * hourMs;
      const wanted = wantedOrder(between(data, startMs, data.endMs, ofService('storefront')), 'backward');
      const shown: string[] = [];
      const streams = new Map<string, Set<string>>();
      let left = wanted.length;
      for (let endMs = data.endMs; endMs > startMs; endMs -= dayMs) {
        const chunk = { startMs: Math.max(startMs, endMs - dayMs), endMs };
        const { rows, ...answer } = await grafana.query({
          expr: '{service_name="storefront"}',
          ...chunk,
          limit: left,
        });
        shown.push(...inOrder(rows, 'backward'));
        left -= rows.length;
        for (const labels of answer.streams) {
          const names = [...labels.keys()].sort().join();
          const pod = labels.get('pod') ?? '';
          streams.set(pod, (streams.get(pod) ?? new Set()).add(names));
        }
        if (left <= 0) break;
      }
      same(shown, wanted, 'lines of both days');
      for (const [pod, sets] of streams) same(sets.size, 1, `label sets of ${pod}`);
    },
  },
  {
    feature: 'the same with the oldest lines first',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const [startMs, limit] = [data.endMs - 29 * hourMs, 80];
      const wanted = wantedOrder(between(data, startMs, data.endMs, ofService('batch-worker')), 'forward');
      const shown: string[] = [];
      for (let from = startMs; from < data.endMs && shown.length < limit; from += dayMs) {
        const chunk = {
          startMs: from,
          endMs: Math.min(from + dayMs, data.endMs),
          limit: limit - shown.length,
        };
        const expr = '{app="batch-worker"}';
        const { rows } = await grafana.query({ expr, ...chunk, direction: 'forward' });
        shown.push(...inOrder(rows, 'forward'));
      }
      same(shown, wanted.slice(0, limit), 'lines');
    },
  },
  {
    feature: 'a metric query over more than a day: chunks aligned to steps give the points of one query',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const stepMs = 20 * minuteMs;
      const endMs = Math.floor(data.endMs / stepMs) * stepMs;
      const startMs = endMs - 29 * hourMs;
      const expr = `sum by (cluster) (count_over_time({service_name="storefront"}[20m]))`;
      // A chunk ends one step before the next one starts; the oldest chunk gets the rest.
      const middleMs = endMs - Math.floor(dayMs / stepMs) * stepMs;
      const newer = await grafana.query({ expr, startMs: middleMs, endMs, stepMs });
      const older = await grafana.query({ expr, startMs, endMs: middleMs - stepMs, stepMs });
      const entries = data.entries.filter(ofService('storefront'));
      const clusters = new Set(entries.map(({ labels }) => labels['cluster'] ?? ''));
      for (const cluster of clusters) {
        const own = entries.filter(({ labels }) => labels['cluster'] === cluster);
        const points = [older, newer].flatMap(({ series }) => ofCluster(series, cluster));
        same(points, countPoints(own, { startMs, endMs, stepMs, windowMs: stepMs }), cluster);
      }
      const short = await grafana.query({ expr, startMs: endMs, endMs, stepMs });
      holds(
        short.series.every(({ points }) => points.length === 1),
        'a chunk of one point',
      );
    },
  },
  {
    feature: 'log context: lines before and after a line',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const stream = between(data, data.endMs - hourMs, data.endMs, ofService('fixture'));
      for (const row of stream) {
        const expr = `{${[...indexLabels(row)].map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}}`;
        const own = between(
          data,
          0,
          data.endMs,
          (entry) => labelKey(indexLabels(entry)) === labelKey(indexLabels(row)),
        );
        const atMs = Number(row.timestampNs / 1_000_000n);
        const exact = { http, orgId, expr, timestampNs: row.timestampNs };
        const before = await contextOf({ ...exact, direction: 'backward', startMs: atMs - 2 * hourMs });
        const after = await contextOf({ ...exact, direction: 'forward', endMs: atMs + 2 * hourMs });
        const isBefore = (entry: DemoEntry): boolean => entry.timestampNs < row.timestampNs;
        same(before, wantedOrder(own.filter(isBefore), 'backward').slice(0, 50), 'before');
        same(
          after,
          wantedOrder(
            own.filter((entry) => !isBefore(entry)),
            'forward',
          ).slice(0, 50),
          'after',
        );
        holds(after.includes(lineKey(row)), 'the line itself is not at the boundary');
      }
    },
  },
  {
    feature: 'live tail: 101, the last hour in one frame, new lines as they arrive, a ping every second',
    sends: ['WS tail'],
    run: async ({ http, stage }) => {
      const labels = { service_name: 'live', env: 'explore' };
      const now = Date.now();
      await stage.push([
        { labels, line: 'two hours ago', atMs: now - 2 * hourMs },
        { labels, line: 'older level=warn', atMs: now - 20 * minuteMs, metadata: { trace_id: 'x' } },
        { labels, line: 'newer', atMs: now - 10 * minuteMs },
      ]);
      const tail = await Tail.open(http, [['query', '{service_name="live", env="explore"}']], {
        'X-Scope-OrgID': stage.liveOrgId,
      });
      const first = await tail.untilLines(2);
      same(
        first.map(({ line }) => line),
        ['older level=warn', 'newer'],
        'history',
      );
      same(
        tail.frames.map(({ streams }) => streams.length),
        [2],
        'streams of the first frame',
      );
      const lines = ['now one', 'now two', 'now three'];
      for (const line of lines) await stage.push([{ labels, line }]);
      const all = await tail.untilLines(5);
      same(
        all.slice(2).map(({ line }) => line),
        lines,
        'live lines',
      );
      for (const { timestampNs } of all) same(timestampNs.length, 19, `digits of ${timestampNs}`);
      await tail.untilPings(2);
      tail.end();
    },
  },
  {
    feature: 'live tail with stages: only lines that pass, as rewritten by the stages',
    sends: ['WS tail'],
    run: async ({ http, stage }) => {
      const labels = { service_name: 'live', env: 'stages' };
      const query = '{service_name="live", env="stages"} | logfmt | n!="1" | line_format "got {{.n}}"';
      const tail = await Tail.open(http, [['query', query]], { 'X-Scope-OrgID': stage.liveOrgId });
      for (const n of [0, 1, 2]) await stage.push([{ labels, line: `n=${n}` }]);
      const lines = await tail.untilLines(2);
      same(
        lines.map(({ line }) => line),
        ['got 0', 'got 2'],
        'lines',
      );
      same(present(lines[1], 'a line').labels.get('n'), '2', 'parsed label');
      tail.end();
    },
  },
  {
    feature: 'live tail refusals: an invalid query or delay before the upgrade, a metric query after it',
    sends: ['WS tail'],
    run: async ({ http, orgId }) => {
      const headers = { 'X-Scope-OrgID': orgId };
      const bad = await Tail.refused(http, [['query', '{a="b"']], headers);
      same(bad.status, 400, 'status of a bad query');
      holds(bad.body.includes('parse error'), `body of a bad query: ${bad.body}`);
      const late = await Tail.refused(
        http,
        [
          ['query', '{a="b"}'],
          ['delay_for', '6'],
        ],
        headers,
      );
      same(late.status, 400, 'status of delay_for=6');
      holds(late.body.includes("delay_for can't be greater than 5"), `body of delay_for=6: ${late.body}`);
      const metric = await Tail.open(http, [['query', 'rate({a="b"}[1m])']], headers);
      same(await metric.closed(), [1011, 'only log selector is supported'], 'close of a metric query');
    },
  },
]);

interface ContextQuery {
  readonly http: ConstructorParameters<typeof Grafana>[0];
  readonly orgId: string;
  readonly expr: string;
  readonly timestampNs: bigint;
  readonly direction: 'backward' | 'forward';
  readonly startMs?: number;
  readonly endMs?: number;
}

/** Log context sends the exact timestamp of the line as one end of the range. */
async function contextOf(query: ContextQuery): Promise<readonly string[]> {
  const { http, orgId, expr, timestampNs, direction, startMs, endMs } = query;
  const { rows } = await new Grafana(http, orgId).query({
    expr,
    ...(startMs === undefined ? { startNs: timestampNs } : { startMs }),
    ...(endMs === undefined ? { endNs: timestampNs, endMs: 0 } : { endMs }),
    limit: 50,
    direction,
  });
  return inOrder(rows, direction);
}

function ofCluster(series: readonly GrafanaSeries[], cluster: string): GrafanaSeries['points'] {
  return series.find(({ labels }) => labels.get('cluster') === cluster)?.points ?? [];
}
