import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { formatFindings, type Format } from '../../../../core/kernel/check/index.js';
import { describedRules } from '../../../../core/kernel/check/described-rules.js';
import type { Finding } from '../../../../core/kernel/pipeline/types.js';
import { checkText } from './fake-built-ins.js';

const folder = join(packageRoot(), 'test', 'data', 'pipelines');
const text = readFileSync(join(folder, 'five.yaml'), 'utf8');
const name = 'pipelines/five.yaml';
const sources = new Map([[name, text]]);

async function five(format: Format, hasColor = false): Promise<string> {
  return formatFindings(await checkText(text, { name }), format, sources, { hasColor });
}

/** The defects of five.yaml, at the places where docs/checker.md says that findings point. */
const expected: readonly (readonly [rule: string, line: number, column: number, endColumn: number])[] = [
  ['R030', 5, 5, 15], // the entry of a stage before what it needs
  ['R007', 9, 7, 21], // the key of a misspelt option
  ['R020', 11, 10, 19], // the name of an unknown plugin
  ['R008', 14, 22, 28], // a value of the wrong type
  ['R023', 20, 9, 22], // an id that is taken
];

test('the password of an address is in no line that is shown', async (t) => {
  const file = `version: 1\nstages:\n  - use: tenancy\n    with: {url: "redis://user:hidden-one@cache:1/2", other: 1}\n`;
  for (const format of ['text', 'json', 'github', 'sarif'] as const) {
    const shown = await formatFindings(await checkText(file, { name }), format, new Map([[name, file]]), {
      hasColor: false,
    });
    t.notRegex(shown, /hidden-one/);
    if (format === 'text') t.regex(shown, /user:\*{10}@cache:1\/2/);
  }
});

test('text: five findings with code frame, underline and fix', async (t) => {
  t.is(
    await five('text'),
    `pipelines/five.yaml:5:5: error R030 "tier0" needs tenant, which the later stage "tenancy" gives (line 6)
    5 |   - use: tier0
      |     ^^^^^^^^^^ move "tenancy" above line 5
pipelines/five.yaml:9:7: error R007 option "rateLimitBrust" is not known to plugin "guard"
    9 |       rateLimitBrust: 100
      |       ^^^^^^^^^^^^^^ did you mean "rateLimitBurst"?
pipelines/five.yaml:11:10: error R020 unknown plugin "peer-cash": it is neither built in nor an installed package
   11 |   - use: peer-cash
      |          ^^^^^^^^^ did you mean "peer-cache"?
pipelines/five.yaml:14:22: error R008 option "maxConcurrent" must be a whole number, not "many"
   14 |       maxConcurrent: "many"
      |                      ^^^^^^
pipelines/five.yaml:20:9: error R023 id "reference-api" is already used by the entry on line 18
   20 |     id: reference-api
      |         ^^^^^^^^^^^^^ choose another id
`,
  );
});

test('text: colours only when asked for, and nothing else changes', async (t) => {
  const colored = await five('text', true);
  t.true(colored.includes('\u001b[31merror R007\u001b[0m'));

  t.is(colored.replaceAll(/\u001b\[\d+m/g, ''), await five('text'));
});

test('json: the five findings at their places', async (t) => {
  const { version, findings } = JSON.parse(await five('json')) as {
    version: number;
    findings: {
      file: string;
      rule: string;
      line: number;
      column: number;
      endColumn: number;
      fix?: string;
      frame: string;
    }[];
  };
  t.is(version, 1);
  t.deepEqual(
    findings.map((found) => [found.rule, found.line, found.column, found.endColumn]),
    expected.map((row) => [...row]),
  );
  t.is(findings[0]?.file, name);
  t.is(findings[1]?.fix, 'did you mean "rateLimitBurst"?');
  t.is(findings[1]?.frame, '      rateLimitBrust: 100\n      ^^^^^^^^^^^^^^');
});

test('github: one workflow command each', async (t) => {
  const lines = (await five('github')).trimEnd().split('\n');
  t.deepEqual(
    lines.map((line) =>
      /^::error file=pipelines\/five\.yaml,line=(\d+),col=(\d+),endColumn=(\d+),title=(R\d+) /
        .exec(line)
        ?.slice(1),
    ),
    expected.map(([rule, line, column, endColumn]) => [
      String(line),
      String(column),
      String(endColumn),
      rule,
    ]),
  );
  t.true(
    lines[1]?.endsWith(
      '::option "rateLimitBrust" is not known to plugin "guard"%0Adid you mean "rateLimitBurst"?',
    ),
  );
});

test('sarif: one run with every rule and the five results', async (t) => {
  interface Result {
    ruleId: string;
    ruleIndex: number;
    level: string;
    message: { text: string };
    locations: {
      physicalLocation: {
        artifactLocation: { uri: string };
        region: { startLine?: number; startColumn?: number; endColumn?: number };
      };
    }[];
  }
  const log = JSON.parse(await five('sarif')) as {
    version: string;
    runs: { tool: { driver: { rules: { id: string }[] } }; results: Result[] }[];
  };
  t.is(log.version, '2.1.0');
  t.is(log.runs.length, 1);
  const [run] = log.runs;
  t.is(run?.tool.driver.rules.length, (await describedRules()).length);
  t.deepEqual(
    run?.results.map(({ ruleId, locations }) => {
      const place = locations[0]?.physicalLocation;
      t.is(place?.artifactLocation.uri, name);
      const { startLine, startColumn, endColumn } = place?.region ?? {};
      return [ruleId, startLine, startColumn, endColumn];
    }),
    expected.map((row) => [...row]),
  );
  for (const { ruleId, ruleIndex } of run?.results ?? []) t.is(run?.tool.driver.rules[ruleIndex]?.id, ruleId);
});

test('no findings are nothing in text and github, and whole documents in json and sarif', async (t) => {
  t.is(await formatFindings([], 'text', new Map()), '');
  t.is(await formatFindings([], 'github', new Map()), '');
  t.is(await formatFindings([], 'json', new Map()), '{\n  "version": 1,\n  "findings": []\n}\n');
  t.like(JSON.parse(await formatFindings([], 'sarif', new Map())), {
    version: '2.1.0',
    runs: [{ results: [] }],
  });
});

const strange: Finding = {
  at: { file: 'a,b:c/ü 1.yaml', line: 1, column: 2, length: 50 },
  rule: 'R001',
  severity: 'warning',
  message: 'per%cent\u001b[31m',
};

test('names and values of strangers cannot break out of a format', async (t) => {
  const shown = new Map([[strange.at.file, '\tx: \u001b[2J\n']]);
  t.false((await formatFindings([strange], 'text', shown)).includes('\u001b'));
  t.true((await formatFindings([strange], 'github', shown)).startsWith('::warning file=a%2Cb%3Ac/ü 1.yaml,'));
  t.true((await formatFindings([strange], 'github', shown)).includes('per%25cent'));
  t.true((await formatFindings([strange], 'sarif', shown)).includes('"uri": "a%2Cb%3Ac/%C3%BC%201.yaml"'));
});

test('the underline keeps tabs and ends with the line', async (t) => {
  const shown = await formatFindings(
    [{ ...strange, message: 'm' }],
    'text',
    new Map([[strange.at.file, '\txyz\r\n']]),
  );
  t.true(shown.endsWith('    1 | \txyz\n      | \t^^^\n'));
});
