import test from 'ava';
import fc from 'fast-check';
import { compileFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import { logsPlan } from './planned.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { compilePipeline } from '../../../../core/logql/pipeline/output.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { storedNames } from '../../../../core/victoria/names/name-learner.js';
import { rowsOf, type Fields } from '../../../plugins/embedded-backend/logsql/run-query.js';
import { deepRuns } from '../../../setup/runs.js';

const naming = new Naming(namesOptions());
const reader = new RowReader(naming);

const sign = fc.constantFrom(
  ...[
    'a',
    'K',
    '0',
    '.',
    '/',
    '"',
    "'",
    '\\',
    ' ',
    '\n',
    'é',
    'ſ',
    '\u212a',
    '\u0001',
    '\ufffd',
    '😀',
    'err',
    'or',
    '500',
  ],
);
const address = '10.1.2.3';
const value = fc.oneof(
  fc.constantFrom(
    'error',
    'ERROR',
    '500',
    '499.7',
    '5e2',
    '400',
    '',
    '007',
    '5ms',
    '-1',
    'path/to',
    "it's",
    'two words',
    address,
    address,
  ),
  fc.array(sign, { maxLength: 5 }).map((signs) => signs.join('')),
);

type Escape = 'none' | 'digits' | 'short';

/** A quoted JSON or logfmt value in which some characters are escaped without need. */
function quoted(text: string, escapes: readonly Escape[]): string {
  const units =
    JSON.stringify(text)
      .slice(1, -1)
      .match(/\\u....|\\.|[^\\]/gsu) ?? [];
  const spelled = units.map((unit, index) => {
    const escape = escapes[index % escapes.length];
    if (unit.length !== 1 || escape === 'none') return unit;
    if (escape === 'short') return /['/]/.test(unit) ? `\\${unit}` : unit;
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${spelled.join('')}"`;
}

const someEscapes = fc.array(fc.constantFrom<Escape>('none', 'digits', 'short'), {
  minLength: 1,
  maxLength: 3,
});
const escapes = fc.oneof(fc.constant<readonly Escape[]>(['none']), someEscapes);

/** Lines with a label `http_code` in all forms that parsers recognize, whole and malformed. */
function lineWith(wanted: string): fc.Arbitrary<string> {
  return fc
    .record({
      text: fc.oneof({ weight: 3, arbitrary: fc.constant(wanted) }, value),
      other: fc.oneof(fc.constant(wanted), value),
      ...{ ofValue: escapes, ofKey: escapes },
      kind: fc.constantFrom(
        'object',
        'nested',
        'spaced',
        'logfmt',
        'bare',
        'last',
        'key',
        'number',
        'packed',
        'other',
        'text',
      ),
      end: fc.constantFrom('', '', '}', ' http.code=x', ','),
    })
    .map(({ text, other, ofValue, ofKey, kind, end }): string => {
      const [inQuotes, rest] = [quoted(text, ofValue), quoted(other, ofValue)];
      const lines: Readonly<Record<typeof kind, string>> = {
        object: `{"a":${rest},${quoted('http_code', ofKey)}:${inQuotes}}`,
        nested: `{"http":{${quoted('code', ofKey)}:${inQuotes}},"b":[${rest}]}`,
        spaced: `{ "http code" : ${inQuotes}, "c":${rest}}`,
        logfmt: `a=${rest} http.code=${inQuotes} b`,
        bare: `http_code=${text} a=${rest}`,
        last: `a=${rest} http_code=${text}`,
        key: `http_code a=${rest}`,
        number: `{"http_code" :${/^[-0-9.e]+$/.test(text) ? text : 500},"a":${rest},"code":499}`,
        packed: `{"_entry":${quoted(`http_code=${inQuotes}`, ofKey)}}`,
        other: `{"a":${inQuotes}} a=${inQuotes}`,
        text,
      };
      return lines[kind] + end;
    });
}

function rowWith(wanted: string): fc.Arbitrary<Fields> {
  const stored = fc.constantFrom(undefined, undefined, undefined, undefined, wanted, 'error');
  return fc
    .record({ line: lineWith(wanted), ofRow: stored, ofStream: stored, hasLine: fc.nat(5) })
    .map(({ line, ofRow, ofStream, hasLine }): Fields => {
      const label = ofStream === undefined || ofStream === '' ? {} : { http_code: ofStream };
      const names = Object.entries({ app: 'a', ...label });
      return {
        _time: '2026-11-01T00:00:00Z',
        _stream: `{${names.map(([name, text]) => `${JSON.stringify(name)}=${JSON.stringify(text)}`).join(',')}}`,
        ...Object.fromEntries(names),
        // A line that is not stored is rebuilt from the fields.
        ...(hasLine > 0 ? { _msg: line } : { _msg: '', a: wanted }),
        ...(ofRow === undefined || ofRow === '' ? {} : { 'http.code': ofRow }),
      };
    });
}

/** Parsers after which the backend can filter rows by address. */
const withoutErrors = ['regexp `http.code=(?P<http_code>\\S+)`', 'pattern `http_code=<http_code> <_>`'];
const parser = fc.constantFrom(
  ...[
    'json',
    'logfmt',
    'logfmt --strict',
    'logfmt --keep-empty',
    'json http_code="http.code"',
    'logfmt http_code="a"',
    'json http_code="a"',
  ],
  ...[...withoutErrors, 'unpack', 'json | logfmt'],
  ...['json | label_format http_code="error"', 'line_format "http_code=err" | logfmt', 'json | drop a'],
  ...['regexp `http.code=(?P<http_code>\\S+)` | json', 'logfmt | json'],
  ...['logfmt | line_format "{{.a}}" | json', 'decolorize | json'],
);

function filterOn(text: string): readonly string[] {
  const exact = JSON.stringify(text);
  const pattern = text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return [
    `=${exact}`,
    ...[pattern, `${pattern}|error`, `.*${pattern}.*`, `(?i)${pattern}`, `${pattern}.+`].map(
      (one) => `=~${JSON.stringify(one)}`,
    ),
    ...['!=""', '=~".+"', '!~"|error"', '!="error"', '=~"5.."', '>400', '>=499.5', '<=400', '==500', '<1'],
    ...['=ip("10.1.0.0/16")', '=ip("10.1.2.3")', '!=ip("10.1.0.0/16")', '!=ip("10.1.2.3")'],
  ];
}

function filterFor(wanted: string): fc.Arbitrary<string> {
  const filters = filterOn(wanted);
  const ofAddresses = filters.filter((filter) => filter.includes('ip('));
  return fc
    .tuple(
      fc.constantFrom(...(wanted === address ? ofAddresses : filters)),
      fc.constantFrom('', '', '', ' or http_code="500"', ' and a!=""', ' or a>1', ' and a<7'),
    )
    .map(([filter, more]) => `http_code${filter}${more}`);
}

const trial = value.chain((wanted) =>
  fc.tuple(
    wanted === address ? fc.constantFrom(...withoutErrors) : parser,
    filterFor(wanted),
    fc.array(rowWith(wanted), { minLength: 8, maxLength: 8 }),
  ),
);

test('no row whose label comes from its line is kept back, however the line spells it', (t) => {
  let [kept, sent] = [0, 0];
  const law = fc.property(trial, ([stages, condition, rows]) => {
    const expr = parseQuery(`{app="a"} | ${stages} | ${condition}`);
    if (expr.kind !== 'log') throw new Error('not a log query');
    const passes = compilePipeline(expr.stages);
    const names = storedNames([...new Set(rows.flatMap(Object.keys))], naming);
    const isSent = compileFilter(logsPlan(expr, naming, names).filter);
    for (const [index, view] of rowsOf(rows).entries()) {
      if (isSent(view)) {
        sent += 1;
        continue;
      }
      kept += 1;
      const { timestampNs, line, stream, structuredMetadata } = reader.read(rows[index] ?? {});
      const entry = { timestampNs, line, stream: stream.labels, structuredMetadata };
      if (passes(entry) !== undefined)
        throw new Error(`kept back by ${stages} | ${condition}: ${JSON.stringify(rows[index])}`);
    }
  });
  const tries = deepRuns(400, 1_200);
  fc.assert(law, { numRuns: tries, endOnFailure: true });
  t.true(kept > tries / 2 && sent > tries / 2, `${kept} kept back, ${sent} sent`);
});
