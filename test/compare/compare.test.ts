import { readFileSync } from 'node:fs';
import test from 'ava';
import { LogqlError, parseQuery } from '../../core/logql/index.js';
import type { Answered } from '../../core/comparison/answers.js';
import { asArray, asObject, canonical } from '../../core/comparison/json.js';
import { compareAll } from './comparison.js';
import { makeDataset } from './data/dataset.js';
import { shapes } from './data/shapes.js';
import { viewOf } from './data/view.js';
import { linesOf } from './lines.js';
import { listedAs, listedPhrases } from './listed.js';
import { lostRows } from './lost.js';
import { caseOf, type Question } from './question.js';
import { tableOf, textOf } from './report.js';
import { families, makeQuestion } from './requests/index.js';
import { bent, fewLogs, fewSettings, oneProxy } from './sides.js';
import { judge, NoAnswerError } from './verdict.js';

const data = fewLogs(7);

function questionsOf(seed: number, count: number, chosen = families): readonly Question[] {
  return Array.from({ length: count }, (_, index) => makeQuestion(seed, index, data, chosen));
}

test('a seed makes the same logs and questions each time, and another seed others', (t) => {
  t.deepEqual(fewLogs(7), data);
  t.notDeepEqual(fewLogs(8), data);
  t.deepEqual(questionsOf(1, 40), questionsOf(1, 40));
  t.notDeepEqual(questionsOf(1, 40), questionsOf(2, 40));
});

test('logs of all shapes come in through all doors, with repeats that are one entry', (t) => {
  const { tenants, startNs, endNs } = makeDataset({ ...fewSettings(9), streams: 40 });
  const sources = tenants.flatMap((tenant) => tenant.sources);
  t.true(sources.every(({ shape }) => shape in shapes));
  t.deepEqual([...new Set(sources.map(({ door }) => door))].sort(), [
    'otlp',
    'parsed',
    'push',
    'rebuilt',
    'wide',
  ]);
  const rows = sources.flatMap((source) => [...source.rows, ...source.laterRows]);
  const entries = tenants.flatMap(({ streams }) => streams.flatMap((stream) => stream.entries));
  t.true(entries.every(({ ns }) => ns >= startNs && ns < endNs));
  t.is(entries.flatMap((entry) => entry.rows).length, rows.length);
  t.true(entries.length < rows.length);
});

test('the Loki view of rows is what the page about it says', (t) => {
  const row = { ns: 7n, message: 'x', fields: { app: 'inner', 'a.b': 'y', env: 'dev', empty: '' } };
  const source = { door: 'wide', shape: 'prose', rows: [row, row], laterRows: [] } as const;
  const [stream, none] = viewOf([
    { ...source, streamFields: { app: 'web', 'h-1.x': '1', 'h.1-x': '2', '2fa': 'on', env: 'dev' } },
  ]);
  t.is(none, undefined);
  t.deepEqual(stream?.labels, { app: 'web', env: 'dev', h_1_x: '1', key_2fa: 'on' });
  t.deepEqual(stream?.entries, [
    { ns: 7n, line: 'x', metadata: { 'a.b': 'y', app: 'inner' }, rows: [row, row], late: 0 },
  ]);
  const fields = {
    z: '1',
    10: 'a',
    '9': '',
    severity_number: '9',
    severity_text: 'Info',
    'scope.name': 'unknown',
    'scope.attributes.s': '2',
  };
  const streamFields = {
    'service.name': 'web',
    'host.name': 'h',
    'os.type': 'linux',
    'k8s.pod.name.a': 'p',
    event_name: 'e',
  };
  const records = [
    { ns: 8n, message: undefined, fields },
    { ns: 9n, message: 'y', fields },
  ];
  const [exported] = viewOf([{ ...source, door: 'otlp', streamFields, rows: records }]);
  t.deepEqual(exported?.labels, { k8s_pod_name_a: 'p', service_name: 'web' });
  const metadata = { event_name: 'e', 'host.name': 'h', 'os.type': 'linux' };
  t.deepEqual(
    exported?.entries.map((entry) => [entry.line, entry.metadata]),
    [
      [
        '{"10":"a","scope.attributes.s":"2","scope.name":"unknown","severity_number":"9","severity_text":"Info","z":"1"}',
        metadata,
      ],
      ['y', { ...metadata, 10: 'a', s: '2', severity_number: '9', z: '1' }],
    ],
  );
  const [unnamed] = viewOf([{ ...source, streamFields: {}, rows: [{ ns: 1n, message: '', fields: {} }] }]);
  t.deepEqual([unnamed?.labels, unnamed?.entries[0]?.line], [{ service_name: 'unknown_service' }, '']);
});

test('queries that are made can be read, but for those that are broken on purpose', (t) => {
  const faults = questionsOf(3, 600).flatMap(({ family, query }) => {
    if (family === 'broken' || query === undefined) return [];
    try {
      parseQuery(query.text);
      return [];
    } catch (error) {
      if (!(error instanceof LogqlError)) throw error;
      return [`${family} ${query.text}: ${error.message}`];
    }
  });
  // Random combinations of stages are occasionally rejected, like those of a user.
  t.true(faults.length < 20, faults.slice(0, 10).join('\n'));
});

test('every family is asked', (t) => {
  t.deepEqual([...new Set(questionsOf(4, 600).map(({ family }) => family))].sort(), [...families].sort());
});

test('each kind of difference that is told apart stands in the table of differences', (t) => {
  const text = readFileSync('docs/differences.md', 'utf8').replaceAll('\\|', '|');
  t.deepEqual(
    listedPhrases.filter((phrase) => !text.includes(phrase)),
    [],
  );
});

test('a difference is told apart by its question and its answers', (t) => {
  const answer = (data: unknown): Answered => ({ status: 200, body: { data } });
  const point = (value: string, metric = {}): Answered => answer({ result: [{ metric, value: [1, value] }] });
  const error = (text: string): Answered => ({ status: 500, body: { error: text } });
  const phraseOf = (path: string, text: string, wanted: Answered, got: Answered): string | undefined =>
    listedAs(
      {
        ...{
          id: '1',
          family: 'metric',
          path,
          method: 'GET',
          tenants: ['a'],
          params: {},
          isCategorized: false,
        },
        query: { name: 'query', text },
      },
      { kind: 'different', text: '', wanted, got },
      data.tenants.flatMap(({ streams }) =>
        streams.flatMap((stream) => stream.entries.map((entry) => ({ stream, entry }))),
      ),
    )?.[1].slice(0, 22);
  const deviation = 'stddev(rate({a="b"}[1h]))';
  t.is(phraseOf('query', deviation, point('0.5'), point('0.50000001')), 'sums, rates, averages ');
  t.is(phraseOf('query', deviation, point('0.5'), point('0.51')), undefined);
  const average = 'avg by (n, x)(sum_over_time({a="b"} | unwrap x[1m]))';
  t.is(phraseOf('query', average, answer({ result: [] }), point('1')), 'an average by the labe');
  t.is(phraseOf('query', average.replace('n, x', 'n'), answer({ result: [] }), point('1')), undefined);
  const emptied = 'sum without (a)(count_over_time({a="b"} | logfmt --keep-empty[1m]))';
  t.is(phraseOf('query', emptied, point('1', { c: '' }), point('4')), 'series whose labels di');
  t.is(phraseOf('query', emptied, point('4'), point('1')), undefined);
  const twoErrors = [
    error('found duplicate series on the left'),
    error('multiple matches for labels: m'),
  ] as const;
  t.is(phraseOf('query_range', 'a / b', ...twoErrors), 'which error a range qu');
  t.is(phraseOf('query', 'a / b', ...twoErrors), undefined);
  t.is(phraseOf('index/volume', '{a=~"x|y|x"}', point('2'), point('1')), 'volumes of a regular e');
  t.is(phraseOf('index/volume', '{a=~"x|y", b=~"x"}', point('2'), point('1')), undefined);
  const patterns = (...lines: readonly number[]): Answered =>
    answer(lines.map((count, index) => ({ pattern: `p${index}`, samples: [[1, count]] })));
  t.is(phraseOf('patterns', '{a="b"}', patterns(34), patterns(35, 30)), 'patterns of lines that');
  t.is(phraseOf('patterns', '{a="b"}', patterns(34), patterns(34, 3000)), undefined);
  t.is(phraseOf('patterns', '{a="b"}', patterns(34, 30), patterns(34)), undefined);
});

test('what a backend does not give back is named', (t) => {
  const row = { ns: 1_793_500_000_000_000_000n, message: 'x', fields: { n: '0.30' } };
  const source = {
    door: 'push',
    streamFields: { app: 'web' },
    shape: 'prose',
    rows: [row],
    laterRows: [],
  } as const;
  const stored = { _time: '2026-11-01T02:26:40Z', _stream: '{app="web"}', _msg: 'x', app: 'web', n: '0.30' };
  const lost = (more: object): readonly string[] =>
    lostRows({ tenant: 'a', sources: [source], streams: [] }, [{ ...stored, ...more }]).map(
      ({ reason }) => reason,
    );
  t.deepEqual(lost({}), []);
  t.deepEqual(lost({ n: '0.3' }), ['n "0.30" read back as "0.3"']);
  t.deepEqual(lost({ _msg: 'y' }), ['_msg "x" read back as "y"']);
  t.deepEqual(lost({ more: '1' }), ['more nothing read back as "1"']);
  t.deepEqual(lost({ _time: '2026-11-01T02:26:41Z' }), ['no row of its time']);
});

test('a proxy shows the streams and lines of the view, whichever door rows came through', async (t) => {
  const proxy = await oneProxy(data);
  try {
    for (const { tenant, streams } of data.tenants) {
      const query = { name: 'query', text: '{service_name=~".+"}' };
      const window = { startNs: data.startNs, endNs: data.endNs, form: 'ns' } as const;
      const { body } = await proxy.ask({
        ...{
          id: 'all',
          family: 'logs',
          path: 'query_range',
          method: 'GET',
          tenants: [tenant],
          query,
          window,
        },
        ...{ params: { limit: '5000' }, isCategorized: true },
      });
      const shown = asArray(asObject(asObject(body)['data'])['result']).flatMap((item) => {
        const { stream, values } = asObject(item);
        return asArray(values).map((value) => [stream, ...asArray(value).slice(0, 2)]);
      });
      const wanted = streams.flatMap(({ labels, entries }) => {
        const service_name =
          labels['service_name'] ?? labels['app'] ?? labels['app_kubernetes_io_name'] ?? 'unknown_service';
        return entries.map(({ ns, line }) => [{ ...labels, service_name }, String(ns), line]);
      });
      t.deepEqual([...new Set(shown.map(canonical))].sort(), [...new Set(wanted.map(canonical))].sort());
    }
  } finally {
    await proxy.close();
  }
});

test('what Loki does not answer is no difference, and what a proxy does not answer ends the run', async (t) => {
  const answer = { status: 200, body: {} };
  const answers = (): Promise<typeof answer> => Promise.resolve(answer);
  const hangs = (): Promise<never> => Promise.reject(new NoAnswerError('late'));
  const [question] = questionsOf(1, 1);
  if (question === undefined) throw new Error('no question');
  t.deepEqual(await judge(question, { loki: hangs, proxy: answers, otherLokis: [] }), { kind: 'unsteady' });
  await t.throwsAsync(judge(question, { loki: answers, proxy: hangs, otherLokis: [] }), { message: 'late' });
});

test('two equal proxies have no differences, and one that bends an answer has that one, made small', async (t) => {
  const proxy = await oneProxy(data);
  try {
    const questions = questionsOf(8, 16);
    const equal = { loki: proxy.ask, proxy: proxy.ask, otherLokis: [] };
    const same = await compareAll(questions, { data, sides: equal, lost: [] });
    t.is(same.findings.size, 0);
    t.true([...same.families.values()].some(({ withData }) => withData > 0));
    const app = data.tenants[0]?.streams[0]?.labels['app'] ?? '';
    const text = `sum by (app, env) (count_over_time({app="${app}", env=~".+"} |= "" | label_format bend="z" | drop env [3h])) > 0`;
    const asked: Question = {
      id: 'bend',
      family: 'instant',
      path: 'query',
      method: 'GET',
      tenants: ['a'],
      query: { name: 'query', text },
      atNs: data.endNs,
      params: {},
      isCategorized: true,
    };
    const found: string[] = [];
    const loki = bent(proxy.ask, 'bend=', `"app":"${app}"`, '"app":"crooked"');
    const again = [asked, { ...asked, id: 'again' }];
    const comparison = await compareAll(again, {
      data,
      sides: { ...equal, loki },
      lost: [],
      found: (finding) => found.push(textOf(finding)),
    });
    t.is(found.length, 1);
    const [finding] = comparison.findings.values();
    t.is(finding?.count, 2);
    t.is(finding?.outcome, 'different');
    t.is(finding?.question.isCategorized, false);
    t.regex(finding?.question.query?.text ?? '', /^\{[^}]*\} \| label_format bend=\"z\"$/);
    t.is(finding?.lines.length, 1);
    t.true(finding !== undefined && linesOf(finding.question, data).length === 1);
    t.regex(tableOf(comparison), /instant +2 +0 +0 +0 +0 +0 +0 +2 +0\.00 %/);
    const twice = await compareAll(again, {
      data,
      sides: { ...equal, loki, otherLokis: [proxy.ask] },
      lost: [],
    });
    t.is(twice.findings.size, 0);
    t.is(twice.families.get('instant')?.outcomes.unsteady, 2);
    t.true(caseOf(asked).params['time'] === String(data.endNs));
  } finally {
    await proxy.close();
  }
});
