import { existsSync, readFileSync } from 'node:fs';
import test from 'ava';
import { parseQuery } from '../../../../core/logql/index.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import { compilePipeline } from '../../../../core/logql/pipeline/output.js';

function passes(stages: string, line: string): boolean {
  const ast = parseQuery(`{app="x"} ${stages}`);
  if (ast.kind !== 'log') throw new Error('not a log query');
  const pipeline = compilePipeline(ast.stages);
  const stream = LabelSet.from([['app', 'x']]);
  return pipeline({ timestampNs: 0n, line, stream, structuredMetadata: LabelSet.empty }) !== undefined;
}

const peer = 'adr fe80::1ff:fe23:4567:890a and 2001:db8::07, v4 192.168.1.255:8080 end 10.0.0.1.';

const cases: readonly (readonly [string, string, boolean])[] = [
  ['|= "err"', 'xerrory', true],
  ['|= "ERR"', 'xerrory', false],
  ['|= ""', '', true],
  ['!= ""', '', false],
  ['|= "a" or "b"', 'cab', true],
  ['!= "a" or "b"', 'cab', false],
  ['|~ "first.second"', 'first\nsecond', false],
  ['|~ "(?s)first.second"', 'first\nsecond', true],
  ['|~ "foo|"', 'bar', false],
  ['|~ "|foo"', 'a foo', true],
  ['|~ "x|.*"', 'bar', false],
  ['!~ "foo|"', 'bar', true],
  ['|~ ".*"', '', true],
  ['|~ "a\\\\.b"', 'a.b', true],
  ['|~ "a\\\\.b"', 'axb', false],
  ['|~ "(?i)kelvin"', '\u212aelvin', false],
  ['|~ "(?i)kelvin"', 'KELVIN', true],
  ['|~ "(?i)é"', 'É', true],
  ['|~ "a{2}"', 'aa', true],
  ['|> "<_>error<_>"', 'error', false],
  ['|> "<_>error<_>"', 'an error.', true],
  ['|> "job <_>"', 'ERROR job 5 failed', true],
  ['|> "job <_> by <_> (attempt <_>)"', 'job 51 started by carol (attempt 1)', true],
  ['|> "a<_>"', 'a', false],
  ['|> "<_>b"', 'abc', false],
  ['|> ""', 'x', false],
  ['|= ip("2001:db8::/32")', peer, true],
  ['|= ip("fe80::/10")', peer, true],
  ['|= ip("192.168.1.254-192.168.1.255")', peer, true],
  ['|= ip("10.0.0.1")', peer, false],
  ['!= ip("10.0.0.0/8")', peer, true],
  ['|= ip("10.0.0.0/8")', 'from 10.2.3.4:80', true],
  ['|= ip("10.0.0.0/8")', 'from 010.2.3.4', false],
];

for (const [stages, line, wanted] of cases) {
  test(`${stages} ${wanted ? 'passes' : 'drops'} ${JSON.stringify(line)}`, (t) => {
    t.is(passes(stages, line), wanted);
  });
}

interface Recorded {
  readonly family: string;
  readonly query: string;
  readonly line: string;
  readonly kept: boolean;
}

const recording = 'test/data/logql/pipeline.jsonl';

test('line filters keep what the recorded Loki kept', (t) => {
  t.true(existsSync(recording));
  const lines = readFileSync(recording, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const recorded = lines
    .map((line) => JSON.parse(line) as Recorded)
    .filter(
      ({ family, query }) =>
        family === 'linefilter' && !/\| ?(?:json|logfmt|line_format|decolorize)/.test(query),
    );
  t.true(recorded.length > 80);
  for (const { query, line, kept } of recorded) {
    t.is(passes(query.slice(query.indexOf('}') + 1), line), kept, query);
  }
});
