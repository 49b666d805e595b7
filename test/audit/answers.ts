import { errorOf, seriesOf, type Json, type Site } from './site.js';
import { hourMs, linesOf, minuteMs, type Lab } from './lab.js';
import { expect, same, type Section } from './section.js';

const app = { app: 'web' };
const selector = '{app="web"}';
const categorized = { 'x-loki-response-encoding-flags': 'categorize-labels' };

async function withLines(lab: Lab, flags: Readonly<Record<string, string>> = {}): Promise<Site> {
  await lab.push([
    { labels: app, line: '{"status":"200","a.b":"c"}', agoMs: minuteMs, metadata: { trace_id: 't1' } },
    { labels: app, line: 'plain', agoMs: 2 * minuteMs },
  ]);
  return lab.site(flags);
}

/** `detected_level` of each line. */
async function levels(lab: Lab, lines: readonly string[], bodyScan: string): Promise<readonly unknown[]> {
  await lab.push(
    lines.map((line) => ({ labels: { ...app, line: line.slice(0, 20) }, line, agoMs: minuteMs })),
  );
  const site = await lab.site({ 'detected-level-body-scan': bodyScan });
  const entries = await site.entries({ query: selector, ...lab.range(hourMs) });
  return lines.map((text) => entries.find(({ line }) => line === text)?.labels['detected_level']);
}

async function rebuilt(
  lab: Lab,
  rows: readonly Readonly<Record<string, string>>[],
  flags = {},
): Promise<string> {
  await lab.pushRows(['app'], rows);
  const site = await lab.site(flags);
  const entries = await site.entries({ query: selector, ...lab.range(hourMs) });
  return entries.map(({ line }) => line).join('\n');
}

export const answers: Section = {
  title: 'Answers of log queries, and error bodies',
  claims: [
    {
      lines: '9, 27-29, 33, 219',
      says: 'an entry is a pair of time and line, below the labels of its stream',
      isQuick: true,
      probe: async (lab) => {
        const site = await withLines(lab);
        const { data } = await site.json('query_range', { query: selector, ...lab.range(hourMs) });
        const { resultType, result } = data as { resultType: string; result: { values: unknown[][] }[] };
        same(resultType, 'streams', 'the type');
        same(
          result.flatMap(({ values }) => values.map((value) => value.length)),
          [2, 2],
          'the lengths of entries',
        );
      },
    },
    {
      lines: '30-31',
      says: 'with the header for categorized labels an entry has a third part, of `structuredMetadata` and `parsed` only',
      isQuick: true,
      probe: async (lab) => {
        const site = await withLines(lab);
        for (const name of ['x-loki-response-encoding-flags', 'x-ref-response-encoding-flags']) {
          const query = { query: `${selector} | json`, ...lab.range(hourMs) };
          const [entry] = await site.entries(query, { [name]: 'categorize-labels' });
          same(Object.keys(entry?.metadata ?? {}).sort(), ['parsed', 'structuredMetadata'], 'its keys');
          same(entry?.metadata?.['structuredMetadata']?.['trace_id'], 't1', 'the metadata');
          same(entry?.metadata?.['parsed']?.['status'], '200', 'a parsed label');
        }
      },
    },
    {
      lines: '32, 89',
      says: 'with `-emit-structured-metadata=false` the third part is empty',
      probe: async (lab) => {
        const site = await withLines(lab, { 'emit-structured-metadata': 'false' });
        const [entry] = await site.entries({ query: selector, ...lab.range(hourMs) }, categorized);
        same(entry?.metadata ?? {}, {}, 'the third part');
      },
    },
    {
      lines: '33',
      says: 'labels of a stream have the names of Loki',
      probe: async (lab) => {
        await lab.pushRows(['service.name'], [{ 'service.name': 'web', _msg: 'x' }]);
        const site = await lab.site();
        const [entry] = await site.entries({ query: '{service_name="web"}', ...lab.range(hourMs) });
        same(entry?.labels['service_name'], 'web', 'service_name');
        same(entry?.labels['service.name'], undefined, 'service.name');
      },
    },
    {
      lines: '34',
      says: 'a row without a line is shown as a JSON object of the fields that are no labels of its stream',
      probe: async (lab) => {
        same(await rebuilt(lab, [{ ...app, _msg: '', status: '200' }]), '{"status":"200"}', 'the line');
      },
    },
    {
      lines: '34',
      says: 'a row with the text that the backend puts in the place of a missing line counts as one without',
      probe: async (lab) => {
        const _msg =
          'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';
        same(await rebuilt(lab, [{ ...app, _msg, status: '200' }]), '{"status":"200"}', 'the line');
      },
    },
    {
      lines: '34, 111',
      says: '`-backend-default-msg-value` names another text for a missing line',
      probe: async (lab) => {
        const line = await rebuilt(lab, [{ ...app, _msg: 'no line', status: '200' }], {
          'backend-default-msg-value': 'no line',
        });
        same(line, '{"status":"200"}', 'the line');
      },
    },
    {
      lines: '35, 531',
      says: 'a line without a stored level gets one from its JSON, its logfmt or a word in it, else `unknown`',
      probe: async (lab) => {
        const lines = ['{"level":"warn"}', 'a=b level=error', 'an ERROR happened', 'nothing to see'];
        same(await levels(lab, lines, 'true'), ['warn', 'error', 'error', 'unknown'], 'the levels');
      },
    },
    {
      lines: '35, 531',
      says: 'with `-detected-level-body-scan=false` only stored fields tell the level',
      probe: async (lab) => {
        same(
          await levels(lab, ['{"level":"warn"}', 'a=b level=error'], 'false'),
          ['unknown', 'unknown'],
          'lines',
        );
        const account = lab.another();
        const fields: readonly (readonly [string, string, string])[] = [
          ['detected_level', 'warn', 'warn'],
          ['level', 'error', 'error'],
          ['severity', 'debug', 'debug'],
          ['lvl', 'info', 'info'],
          ['severity_text', 'ERROR', 'error'],
          ['severity_number', '17', 'error'],
        ];
        await lab.pushRows(
          ['app'],
          fields.map(([name, value]) => ({ ...app, _msg: name, [name]: value })),
          account,
        );
        const site = await lab.site({ 'detected-level-body-scan': 'false' }, { orgId: String(account) });
        const entries = await site.entries({ query: selector, ...lab.range(hourMs) });
        for (const [name, , level] of fields)
          same(entries.find(({ line }) => line === name)?.labels['detected_level'], level, name);
      },
    },
    {
      lines: '40-45',
      says: 'an error has `status`, `errorType`, `error` and `message`, the last with the same text as the third',
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site();
        const { status, text } = await site.get('query', { query: '{app=' });
        const body = JSON.parse(text) as Record<string, string>;
        same(
          [status, Object.keys(body).sort()],
          [400, ['error', 'errorType', 'message', 'status']],
          'the body',
        );
        same(
          [body['status'], body['errorType'], body['message']],
          ['error', 'bad_data', body['error']],
          'its texts',
        );
      },
    },
    {
      lines: '45, 92',
      says: 'with `-error-response-message-field=false` an error has the first three only',
      probe: async (lab) => {
        const site = await lab.site({ 'error-response-message-field': 'false' });
        const { text } = await site.get('query', { query: '{app=' });
        same(Object.keys(JSON.parse(text) as object).sort(), ['error', 'errorType', 'status'], 'the body');
      },
    },
    {
      lines: '42-45',
      says: 'every error has these fields',
      differs: 'Two refusals are plain text',
      probe: async (lab) => {
        const all = ['error', 'errorType', 'message', 'status'];
        const site = await lab.site({
          'max-concurrent': '1',
          'rate-limit-per-second': '1',
          'rate-limit-burst': '1',
        });
        same(
          Object.keys(JSON.parse((await site.send('POST', 'push', {})).text) as object).sort(),
          all,
          'a push',
        );
        const replies = await Promise.all(
          Array.from({ length: 8 }, () => site.get('labels', lab.range(hourMs))),
        );
        const limited = replies.find(({ status }) => status === 429);
        same(Object.keys(JSON.parse(limited?.text ?? '{}') as object).sort(), all, 'a 429');
        same(errorOf(await site.get('/none')), '404 404 page not found', 'an unknown path');
      },
    },
    {
      lines: '9, 219',
      says: 'a metric query is answered with series, from `stats_query_range` of the backend',
      isQuick: true,
      probe: async (lab) => {
        await lab.push(linesOf(app, 30, 30 * minuteMs));
        const site = await lab.site();
        const query = `sum by (app) (count_over_time(${selector}[1h]))`;
        const series = seriesOf(await site.json('query_range', { query, ...lab.range(hourMs), step: '60' }));
        same(
          series.map(({ metric }) => metric),
          [app],
          'the series',
        );
        same(series[0]?.values?.at(-1)?.[1], '30', 'the last value');
        expect(site.called.includes('stats_query_range'), `the backend was asked ${site.called.join()}`);
      },
    },
    {
      lines: '220',
      says: 'an instant query is answered with a vector, from `stats_query` or `query` of the backend',
      isQuick: true,
      probe: async (lab) => {
        await lab.push(linesOf(app, 30, 30 * minuteMs));
        const site = await lab.site();
        for (const method of ['GET', 'POST']) {
          site.relay.forget();
          const query = `sum(count_over_time(${selector}[${method === 'GET' ? '1h' : '61m'}]))`;
          const { text } = await site.send(method, 'query', { query });
          same(seriesOf(JSON.parse(text) as Json)[0]?.value?.[1], '30', 'the value');
          expect(
            site.called.some((path) => ['stats_query', 'query'].includes(path)),
            `the backend was asked ${site.called.join()}`,
          );
        }
      },
    },
  ],
};
