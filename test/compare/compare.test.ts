import { readFileSync } from 'node:fs';
import test from 'ava';
import { LogqlError, parseQuery } from '../../core/logql/index.js';
import { compareAll } from './comparison.js';
import { shapes } from './data/shapes.js';
import { linesOf } from './lines.js';
import { listedPhrases } from './listed.js';
import { lostEntries } from './lost.js';
import { caseOf, type Question } from './question.js';
import { tableOf, textOf } from './report.js';
import { families, makeQuestion } from './requests/index.js';
import { bent, fewLogs, oneProxy } from './sides.js';

const data = fewLogs(5);

function questionsOf(seed: number, count: number, chosen = families): readonly Question[] {
  return Array.from({ length: count }, (_, index) => makeQuestion(seed, index, data, chosen));
}

test('a seed makes the same logs and questions each time, and another seed others', (t) => {
  t.deepEqual(fewLogs(5), data);
  t.notDeepEqual(fewLogs(6), data);
  t.deepEqual(questionsOf(1, 40), questionsOf(1, 40));
  t.notDeepEqual(questionsOf(1, 40), questionsOf(2, 40));
});

test('logs of all shapes are made, and no entry twice', (t) => {
  const all = fewLogs(9);
  const names = all.tenants.flatMap(({ streams }) => streams.map(({ shape }) => shape));
  t.true(names.every((name) => name in shapes));
  for (const { entries } of all.tenants.flatMap(({ streams }) => streams)) {
    t.is(new Set(entries.map(({ ns, line }) => `${ns} ${line}`)).size, entries.length);
    t.true(entries.every(({ ns }) => ns >= all.startNs && ns < all.endNs));
  }
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
  // What mixes stages at random is refused now and then, as a user's is.
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

test('what a backend does not give back is named', (t) => {
  const entry = { ns: 1_793_500_000_000_000_000n, line: 'x', metadata: { n: '0.30' } };
  const stream = { labels: { app: 'web' }, shape: 'prose', entries: [entry] };
  const row = { _time: '2026-11-01T02:26:40Z', _msg: 'x', app: 'web', n: '0.30' };
  const lost = (more: object): readonly string[] =>
    lostEntries({ tenant: 'a', streams: [stream] }, [{ ...row, ...more }]).map(({ reason }) => reason);
  t.deepEqual(lost({}), []);
  t.deepEqual(lost({ n: '0.3' }), ['metadata n="0.30" read back as "0.3"']);
  t.deepEqual(lost({ _msg: 'y' }), ['line "x" read back as "y"']);
  t.regex(lost({ app: 'api' })[0] ?? '', /^no row/);
  const twins = { ...stream, entries: [{ ...entry, metadata: { app: 'web' } }] };
  t.regex(lostEntries({ tenant: 'a', streams: [twins] }, [row])[0]?.reason ?? '', /cannot be told from it$/);
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
