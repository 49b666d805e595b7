/** Grafana's data source: health, panels and Explore. */
import { ClientFailure, holds, members, number, present, same } from './check.js';
import { clashSelector, fixtureSelector, hourMs, minuteMs } from './demo-data.js';
import { featuresOf, type Scene } from './feature.js';
import { Grafana } from './grafana.js';
import { labelKey, type LogRow } from './grafana-reader.js';
import {
  between,
  countBy,
  countPoints,
  indexLabels,
  inOrder,
  inWindow,
  lastHour,
  ofService,
  wantedOrder,
} from './oracle.js';

const store = '{service_name="storefront"}';

export const grafanaQueries = featuresOf('Grafana data source', 'Grafana data source', [
  {
    feature: 'Save & test: one series with the value 2',
    sends: ['GET query'],
    run: async ({ http, orgId }) => {
      const answer = await new Grafana(http, orgId).query({ expr: 'vector(1)+vector(1)', endMs: 4_000 });
      same(answer.resultType, 'vector', 'resultType');
      // The API reads ten digits as seconds, although Grafana means nanoseconds.
      same(
        answer.series.map(({ points }) => points),
        [[[4_000_000_000, 2]]],
        'points',
      );
    },
  },
  {
    feature: 'logs panel: newest lines first, categorized labels, unchanged lines',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const range = lastHour(data);
      const { rows } = await new Grafana(http, orgId).query({
        expr: store,
        ...range,
        limit: 1_000,
        stepMs: 2_000,
      });
      const wanted = between(data, range.startMs, range.endMs, ofService('storefront'));
      same(inOrder(rows, 'backward'), wantedOrder(wanted, 'backward'), 'lines');
      const byTime = new Map(wanted.map((entry) => [entry.timestampNs, entry]));
      for (const row of rows) {
        const entry = present(byTime.get(row.timestampNs), 'the entry of a row');
        const labels = new Map([
          ...indexLabels(entry),
          ...Object.entries(entry.metadata),
          ['detected_level', entry.level],
        ]);
        same(labelKey(row.labels), labelKey(labels), 'labels of a row');
        for (const [name, type] of row.types) {
          same(type, indexLabels(entry).has(name) ? 'I' : 'S', `type of ${name}`);
        }
      }
    },
  },
  {
    feature: 'line limit and direction: newest lines first, or oldest first',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const range = lastHour(data);
      const all = between(data, range.startMs, range.endMs);
      for (const direction of ['backward', 'forward'] as const) {
        const { rows } = await new Grafana(http, orgId).query({
          expr: '{namespace=~".+"}',
          ...range,
          limit: 25,
          direction,
        });
        same(inOrder(rows, direction), wantedOrder(all, direction).slice(0, 25), direction);
      }
    },
  },
  {
    feature: 'special characters in lines arrive unchanged: quotes, backslashes, tabs, emoji, markup',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const range = lastHour(data);
      const { rows } = await new Grafana(http, orgId).query({
        expr: fixtureSelector,
        ...range,
        limit: 1_000,
      });
      const wanted = between(data, range.startMs, range.endMs, ofService('fixture'));
      same(inOrder(rows, 'backward'), wantedOrder(wanted, 'backward'), 'lines');
    },
  },
  {
    feature: 'parsed labels have the category P; a name that the stream has, too, becomes _extracted',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const expr = `${fixtureSelector} |= "user" | json`;
      const { rows } = await new Grafana(http, orgId).query({ expr, ...lastHour(data), limit: 10 });
      const row = onlyRow(rows);
      const wanted: readonly (readonly [string, string, string])[] = [
        ['user_name', 'ann', 'P'],
        ['user_id', '7', 'P'],
        ['took', '12ms', 'P'],
        ['ok', 'true', 'P'],
        ['level', 'warn', 'P'],
        ['cluster', 'lab', 'I'],
        ['cluster_extracted', 'from the line', 'P'],
        ['trace_id', 'abc', 'S'],
        ['http_route', '/cart', 'S'],
        ['detected_level', 'warn', 'S'],
      ];
      for (const [name, value, type] of wanted) {
        same([row.labels.get(name), row.types.get(name)], [value, type], name);
      }
    },
  },
  {
    feature: 'a name that both the line and the stream or metadata have: both are shown',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const query = { expr: `${clashSelector} | logfmt`, ...lastHour(data), limit: 10 };
      const { labels, types } = onlyRow((await new Grafana(http, orgId).query(query)).rows);
      const wanted: readonly (readonly [string, string, string])[] = [
        ['cluster', 'lab', 'I'],
        ['cluster_extracted', 'line', 'P'],
        ['trace_id', 'metadata', 'S'],
        ['trace_id_extracted', 'line', 'P'],
        ['own', 'line', 'P'],
      ];
      for (const [name, value, type] of wanted)
        same([labels.get(name), types.get(name)], [value, type], name);
    },
  },
  {
    feature: "filter by a label's value: category I as matcher, S before the parser, P after it",
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const range = lastHour(data);
      const first = onlyRow(
        (await grafana.query({ expr: `${fixtureSelector} |= "user" | json`, ...range, limit: 10 })).rows,
      );
      for (const [name, value] of first.labels) {
        const quoted = JSON.stringify(value);
        const type = present(first.types.get(name), `type of ${name}`);
        const clicked = {
          I: `{service_name="fixture", ${name}=${quoted}} |= "user" | json`,
          S: `${fixtureSelector} | ${name}=${quoted} |= "user" | json`,
          P: `${fixtureSelector} |= "user" | json | ${name}=${quoted}`,
        }[type];
        const { rows } = await grafana.query({ expr: clicked, ...range, limit: 10 });
        same(
          rows.map(({ line }) => line),
          [first.line],
          clicked,
        );
      }
    },
  },
  {
    feature: '| json keeps invalid lines, with __error__ and __error_details__',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const expr = `${fixtureSelector} |= "broken" | json`;
      const { rows } = await new Grafana(http, orgId).query({ expr, ...lastHour(data), limit: 10 });
      const { labels, types } = onlyRow(rows);
      same(labels.get('__error__'), 'JSONParserErr', '__error__');
      holds((labels.get('__error_details__') ?? '') !== '', 'no __error_details__');
      same(types.get('__error__'), 'P', 'type of __error__');
    },
  },
  {
    feature: 'the same failure in a metric query returns an error that names it',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const expr = `count_over_time(${fixtureSelector} |= "broken" | json [5m])`;
      const shown = await new Grafana(http, orgId).failure({ expr, ...lastHour(data), stepMs: 60_000 });
      holds(shown.startsWith("pipeline error: 'JSONParserErr' for series: '{"), `shown: ${shown}`);
    },
  },
  {
    feature:
      'time series panel: points at multiples of the step, left-open windows, no points for empty ones',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const range = { startMs: data.endMs - hourMs - 7_500, endMs: data.endMs - 1_250, stepMs: 30_000 };
      const expr = `sum(count_over_time(${store} |= "error" [30s]))`;
      const { series, resultType } = await new Grafana(http, orgId).query({ expr, ...range });
      same(resultType, 'matrix', 'resultType');
      const errors = data.entries.filter(
        (entry) => entry.service === 'storefront' && entry.line.includes('error'),
      );
      same(
        series,
        [{ labels: new Map(), points: countPoints(errors, { ...range, windowMs: 30_000 }) }],
        'series',
      );
    },
  },
  {
    feature: 'log volume histogram: one series for each level, without absent labels',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const range = { ...lastHour(data), stepMs: 5 * minuteMs };
      const expr = `sum by (level, detected_level) (count_over_time({namespace=~".+"} | drop __error__[5m]))`;
      const { series } = await new Grafana(http, orgId).query({ expr, ...range, tag: 'logvolhist' });
      const levels = countBy(data.entries, ({ level }) => level);
      const wanted = [...levels.keys()].map((level) => ({
        labels: new Map([['detected_level', level]]),
        points: countPoints(
          data.entries.filter((entry) => entry.level === level),
          { ...range, windowMs: 5 * minuteMs },
        ),
      }));
      same(sorted(series), sorted(wanted.filter(({ points }) => points.length > 0)), 'levels');
    },
  },
  {
    feature: 'logs sample, data sample and infinite scrolling fetch further pages',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const range = lastHour(data);
      const wanted = wantedOrder(between(data, range.startMs, range.endMs), 'backward');
      const expr = '{namespace=~".+"}';
      for (const [tag, limit] of [
        ['logsample', 100],
        ['datasample', 10],
      ] as const) {
        const { rows } = await grafana.query({ expr, ...range, limit, tag });
        same(inOrder(rows, 'backward'), wanted.slice(0, limit), tag);
      }
      const seen: string[] = [];
      let endMs = range.endMs;
      for (let page = 0; page < 3; page += 1) {
        const { rows } = await grafana.query({
          expr,
          startMs: range.startMs,
          endMs,
          limit: 40,
          tag: 'infinitescroll',
        });
        for (const key of inOrder(rows, 'backward')) if (!seen.includes(key)) seen.push(key);
        // The browser has millisecond precision only, so the next page contains the last line again.
        endMs =
          Math.ceil(
            Number(
              rows.reduce((min, row) => (row.timestampNs < min ? row.timestampNs : min), nanosMax) /
                1_000_000n,
            ),
          ) + 1;
      }
      same(seen, wanted.slice(0, seen.length), 'three pages');
      holds(seen.length >= 110, `only ${seen.length} lines on three pages`);
    },
  },
  {
    feature: 'query statistics, as the inspector shows them',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const { stats } = await new Grafana(http, orgId).query({ expr: store, ...lastHour(data), limit: 100 });
      const summary = members(members(stats, 'stats').get('summary'), 'stats.summary');
      for (const name of ['bytesProcessedPerSecond', 'linesProcessedPerSecond', 'execTime']) {
        number(summary.get(name), name);
      }
      holds(number(summary.get('totalLinesProcessed'), 'lines') > 0, 'no lines were processed');
      holds(number(summary.get('totalBytesProcessed'), 'bytes') > 0, 'no bytes were processed');
    },
  },
  {
    feature: 'interval variables are sent as durations',
    sends: ['GET query', 'GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const { endMs } = lastHour(data);
      const wanted = inWindow(data, endMs, hourMs, ofService('storefront')).length;
      for (const text of ['1h', '3600s', '60m0s']) {
        const { series } = await grafana.query({ expr: `sum(count_over_time(${store}[${text}]))`, endMs });
        same(
          series.map(({ points }) => points),
          [[[endMs / 1000, wanted]]],
          text,
        );
      }
      const range = { ...lastHour(data), stepMs: 2_500 };
      const rate = await grafana.query({ expr: `sum(rate(${store} [1m30s]))`, ...range });
      holds(rate.series.length === 1, 'no series of [1m30s]');
    },
  },
  {
    feature: 'empty answers are valid',
    sends: ['GET query', 'GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const range = lastHour(data);
      const none = '{service_name="nobody"}';
      const logs = await grafana.query({ expr: none, ...range, limit: 10 });
      same(
        [logs.resultType, logs.rows.length, logs.encodingFlags],
        ['streams', 0, ['categorize-labels']],
        'logs',
      );
      const matrix = await grafana.query({ expr: `rate(${none}[1m])`, ...range, stepMs: 15_000 });
      same([matrix.resultType, matrix.series.length], ['matrix', 0], 'range');
      const vector = await grafana.query({ expr: `sum(rate(${none}[1m]))`, endMs: range.endMs });
      same([vector.resultType, vector.series.length], ['vector', 0], 'instant');
    },
  },
  {
    feature: 'derived fields and annotations: unchanged lines, label values as strings',
    sends: ['GET query_range'],
    run: async (scene: Scene) => {
      const { http, orgId, data } = scene;
      const range = lastHour(data);
      const expr = '{service_name="checkout"} | logfmt | order_id!=""';
      const { rows } = await new Grafana(http, orgId).query({ expr, ...range, limit: 50 });
      const wanted = between(data, range.startMs, range.endMs, ofService('checkout'));
      same(inOrder(rows, 'backward'), wantedOrder(wanted, 'backward').slice(0, 50), 'lines');
      for (const { line, labels } of rows) {
        same(labels.get('order_id'), /order_id=(\d+)/.exec(line)?.[1], 'order_id');
      }
    },
  },
]);

const nanosMax = 2n ** 63n - 1n;

function onlyRow(rows: readonly LogRow[]): LogRow {
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0)
    throw new ClientFailure(`${rows.length} rows where one was wanted`);
  return row;
}

function sorted<Series extends { readonly labels: ReadonlyMap<string, string> }>(
  series: readonly Series[],
): Series[] {
  return [...series].sort((a, b) => (labelKey(a.labels) < labelKey(b.labels) ? -1 : 1));
}
