/** Law: if advice claims that a rewritten query has the same answers, it has them over any logs for which the original query succeeds. */
import test from 'ava';
import { request } from 'undici';
import { compareAnswers, hasData, parsedBody, type Answered } from '../../../../core/comparison/answers.js';
import { adviceOn, adviceRules, type QueryAdvice } from '../../../../core/engine/advice/rules.js';
import { explainQuery } from '../../../../core/engine/plan/explain/explain.js';
import { printPlain } from '../../../../core/logql/index.js';
import { withProxyFile } from '../../../../core/testing/index.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { Query } from '../../../../core/wire/api/request.js';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { Random } from '../../../watch/random.js';
import { minimalPipeline } from '../../program/child.js';
import { deepRuns } from '../../../setup/runs.js';

const naming = new Naming(namesOptions());
const endNs = 1_793_491_500_000_000_000n;
const stepNs = 1_000_000_000n;
const rounds = 2;
const linesOfRound = 120;
const queriesOfRound = deepRuns(55, 250);

/** Rules of advice that claim to keep the answers of the query. */
const sameRules = adviceRules.filter(({ answers }) => answers === 'same').map(({ id }) => id);

const texts = ['a', 'b timeout', 'time', 'timeout', 'x y', '', 'é "q"', '1', '20', 'line\nfeed timeout'];
const keys = ['app', 'host', 'msg', 'level', 'n', 'x', 'took'];

/** JSON lines with repeated keys, keys named like stream labels, and values that are objects, lists or null. */
function jsonLine(random: Random): string {
  const members = random.several(
    5,
    () => {
      const value = random.pick([
        JSON.stringify(random.pick(texts)),
        String(random.below(30)),
        'null',
        `{"x":${JSON.stringify(random.pick(texts))}}`,
        '["timeout"]',
      ]);
      return `${JSON.stringify(random.pick(keys))}:${value}`;
    },
    1,
  );
  return `{${members.join(',')}}`;
}

function logfmtLine(random: Random): string {
  const pairs = random.several(4, () => `${random.pick(keys)}=${JSON.stringify(random.pick(texts))}`, 1);
  return pairs.join(' ');
}

function lineOf(random: Random, isJson: boolean): string {
  if (isJson) return jsonLine(random);
  return random.chance(0.7) ? logfmtLine(random) : random.pick(['plain timeout text', '{"broken', 'a b']);
}

async function push(url: string, random: Random, round: number): Promise<void> {
  const streams = ['json', 'mixed'].flatMap((kind) =>
    ['a', 'b'].map((app) => ({
      stream: { round: `${round}`, kind, app, ...(app === 'a' ? { host: 'h1' } : {}) },
      values: Array.from({ length: linesOfRound / 4 }, (_, n) => [
        String(endNs - BigInt(n + 1) * stepNs - BigInt(random.below(1000))),
        lineOf(random, kind === 'json'),
        random.chance(0.1) ? { [random.pick(['app', 'msg', 'x'])]: random.pick(['a', 'meta']) } : {},
      ]),
    })),
  );
  const { statusCode } = await request(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  if (statusCode !== 204) throw new Error(`${statusCode}`);
}

const stages = [
  '| json',
  '| json',
  '| logfmt',
  '| json msg',
  '| logfmt x, n',
  '| unpack',
  '| regexp "(?P<x>t[a-z]+)"',
  '| pattern "<app> <msg>"',
  '| label_format y=msg',
  '| label_format app=level',
  '| label_format y="{{.msg}}"',
  '| app="a"',
  '| n > 3',
  '| level!="a"',
  '| msg=~".+"',
  '| __error__=""',
  '| drop x',
  '| drop __error__, __error_details__',
  '|= "time"',
  '| line_format "{{.msg}}" |= "timeout"',
  '| line_format "{{.x}}" |= "time" or "a" |= "t"',
];

function makeQuery(random: Random, round: number): string {
  const kind = random.pick(['kind="json"', 'kind="mixed"', 'kind=~".+"']);
  const app = random.pick(['app=~".+"', 'app="a"', 'app!=""', 'host=~".+", app=~"a|b"']);
  const selector = `{round="${round}", ${kind}, ${app}}`;
  const log = [selector, ...random.several(3, () => random.pick(stages))].join(' ');
  if (random.chance(0.3)) return `${selector} | json ${random.pick(stages)} ${random.pick(stages.slice(-2))}`;
  const by = random.pick(['', ' by (app)', ' by (app)', ' by (host, app)', ' by (app, msg)', ' by (kind)']);
  const range = random.pick([
    `count_over_time(${log} [1m])`,
    `rate(${log} [30s])`,
    `bytes_over_time(${log} [1m])`,
    `sum_over_time(${log} | unwrap n | __error__="" [1m])`,
    `max_over_time(${log} | unwrap n | __error__="" [1m]) by (app)`,
  ]);
  const op = random.pick(['sum', 'sum', 'max', 'min']);
  const inner = random.pick([range, `sum${by}(${range})`, `${op} by (app, kind)(${range})`]);
  return random.chance(0.7) ? `${op}${by}(${inner})` : `sum(${inner}) or vector(0)`;
}

function rewritings(text: string): readonly QueryAdvice[] {
  try {
    const query = new Query(text, 'reject');
    const explain = (each: Query): ReturnType<typeof explainQuery> => explainQuery(each, naming);
    const context = {
      explanation: explain(query),
      explain: (expr: typeof query.ast) => explain(query.withAst(expr)),
    };
    return adviceOn(query.ast, context).filter(({ rule }) => sameRules.includes(rule.id));
  } catch {
    // Some combinations are not valid queries.
    return [];
  }
}

async function ask(url: string, query: string): Promise<Answered> {
  const params = new URLSearchParams({
    ...{ query, limit: '1000', step: '15' },
    start: String(endNs - 180n * stepNs),
    end: String(endNs),
  });
  const { statusCode, body } = await request(`${url}/loki/api/v1/query_range?${params.toString()}`);
  return { status: statusCode, body: parsedBody(await body.text()) };
}

test('rewritten queries have the answers of those as written, over random logs', async (t) => {
  const backend = await startDevBackend();
  const compared = new Map(sameRules.map((id) => [id, 0]));
  try {
    await withProxyFile(
      minimalPipeline,
      async ({ url }) => {
        for (let round = 0; round < rounds; round += 1) {
          await push(backend.url, Random.of(20_261_127, round), round);
          for (let index = 0; index < queriesOfRound; index += 1) {
            const written = makeQuery(Random.of(round, index), round);
            for (const { rule, rewritten } of rewritings(written)) {
              if (rewritten === undefined) continue;
              const before = await ask(url, written);
              if (before.status !== 200) continue;
              const text = printPlain(rewritten);
              const after = await ask(url, text);
              const difference = compareAnswers(
                { path: '/loki/api/v1/query_range', params: {} },
                before,
                after,
              );
              t.is(difference, undefined, `${rule.id}\n${written}\n${text}\n${JSON.stringify(difference)}`);
              if (hasData(before)) compared.set(rule.id, (compared.get(rule.id) ?? 0) + 1);
            }
          }
        }
      },
      { flags: { backend: backend.url } },
    );
  } finally {
    await backend.close();
  }
  t.log([...compared].map(([id, count]) => `${id}: ${count}`).join(', '));
  for (const [id, count] of compared) t.true(count >= queriesOfRound / 25, `${id}: ${count}`);
});
