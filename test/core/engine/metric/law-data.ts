/** Data for the law: the data of the comparison with Loki, and streams for which the ways of reading differ. */
import { viewOf } from '../../../compare/data/view.js';
import { makeDataset, type Dataset } from '../../../compare/data/dataset.js';
import type { Row, Source } from '../../../compare/data/rows.js';
import { Random } from '../../../watch/random.js';

export const endNs = 1_793_520_000_000_000_000n;
const second = 1_000_000_000n;

/** Damages a few lines of a JSON stream, by the number of the stream. */
const dents: Readonly<Partial<Record<number, (line: string) => string>>> = {
  0: (line) => line.slice(0, -9),
  1: (line) => ` ${line} `,
  4: (line) => line.replace('"status"', '"status":"302","status"'),
};

/** Similar rows, as one program writes them: the backend counts few others. Some rows are pushed twice, and all rows of two streams. */
function regularSources(random: Random): readonly Source[] {
  return (['push', 'push', 'rebuilt', 'rebuilt', 'push', 'rebuilt'] as const).map((door, index) => {
    const rows = Array.from({ length: 300 }, (_, at): Row => {
      const fields = {
        method: random.pick(['GET', 'GET', 'GET', 'PUT']),
        status: random.pick(['200', '200', '404', '500']),
        took: random.chance(0.02)
          ? 'fast'
          : random.pick([String(random.below(900)), `${random.below(90)}.5`]),
        level: random.pick(['info', 'warn', 'error']),
        user: 'x'.repeat(120),
      };
      const whole = JSON.stringify(fields);
      const ns = endNs - BigInt(1 + at * 7 + random.below(7)) * second;
      return door === 'push'
        ? {
            ns,
            message: random.chance(0.03) ? (dents[index]?.(whole) ?? whole) : whole,
            fields: { pod: `pod-${at % 3}` },
          }
        : { ns, message: undefined, fields };
    });
    const repeated = index >= 4 ? rows.length : index % 2 === 1 ? 9 : 0;
    const streamFields = { app: 'regular', door: `${door}-${index}`, service_name: 'regular' };
    return { door, streamFields, shape: 'regular', rows, laterRows: rows.slice(0, repeated) };
  });
}

/**
 * JSON streams in which some rows have fields instead of a line, or nothing at all. Some rows are pushed twice, and all rows of one stream.
 */
function sparseSources(random: Random): readonly Source[] {
  return [0.05, 0.3, 0.2].map((share, index): Source => {
    const rows = Array.from({ length: 200 }, (_, at): Row => {
      const levels = ['info', 'info', 'Warn', 'ERROR'];
      const fields = {
        method: random.pick(['GET', 'GET', 'PUT']),
        status: random.pick(['200', '200', '404', '500']),
        took: random.pick([String(random.below(900)), `${random.below(90)}.5`, '1_000']),
        ...(random.chance(0.9) || index === 0 ? { level: random.pick(levels) } : {}),
      };
      const ns = endNs - BigInt(1 + at * 10 + random.below(10)) * second;
      if (!random.chance(share)) return { ns, message: JSON.stringify(fields), fields: {} };
      return { ns, message: '', fields: index === 1 && random.chance(0.2) ? {} : fields };
    });
    const repeated = [0, 9, rows.length][index];
    const streamFields = { app: 'sparse', door: `push-${index}`, service_name: 'sparse' };
    return { door: 'push', streamFields, shape: 'sparse', rows, laterRows: rows.slice(0, repeated) };
  });
}

/** Streams of JSON, logfmt, text and access logs; some lines have words for two levels, or an unusual spelling of their level. */
function mixedSources(random: Random): readonly Source[] {
  const levels = ['info', 'info', 'warn', 'error', 'debug', 'dbg', 'Fatal', 'notice'];
  const words = ['cache', 'order', 'an error,', 'warnings', 'retry', '(info)', 'stderr', 'lvl="in\\u0066o"'];
  const lines: readonly ((level: string, text: string) => string)[] = [
    (level, text) => JSON.stringify({ level, msg: text }),
    (level, text) => JSON.stringify({ msg: text, at: { severity: level } }),
    (level, text) => `ts=${random.below(99)} level=${level} msg="${text}"`,
    (level, text) => `${random.below(99)} ${level.toUpperCase()} [${text}] done`,
    (level, text) => `10.0.0.${random.below(99)} "GET /${level}/${text} HTTP/1.1" 200`,
  ];
  return lines.map((lineOf, index): Source => {
    const rows = Array.from({ length: 200 }, (_, at): Row => {
      const text = `${random.pick(words)} ${random.pick(words)} ${random.below(900)}`;
      const ns = endNs - BigInt(1 + at * 10 + random.below(10)) * second;
      return { ns, message: lineOf(random.pick(levels), text), fields: {} };
    });
    const streamFields = { app: 'mixed', door: `push-${index}`, service_name: 'mixed' };
    return { door: 'push', streamFields, shape: 'mixed', rows, laterRows: [] };
  });
}

/** JSON streams in which some rows have metadata named like a label of their own stream, or of other streams only. */
function clashingSources(random: Random): readonly Source[] {
  const clashes: readonly ((value: string) => Row['fields'])[] = [
    () => ({}),
    (value) => ({ team: value }),
    (value) => ({ zone: value }),
    () => ({}),
    () => ({}),
  ];
  return clashes.map((fieldsOf, index): Source => {
    const rows = Array.from({ length: 120 }, (_, at): Row => {
      const ns = endNs - BigInt(1 + at * 10 + random.below(10)) * second;
      const fields = random.chance(0.7) ? fieldsOf(random.pick(['a', 'b'])) : {};
      const level = random.pick(['info', 'info', 'error']);
      const method = random.pick(['GET', 'PUT']);
      const line = { level, method, took: random.below(900), msg: `order ${random.below(900)}` };
      return { ns, message: JSON.stringify(line), fields };
    });
    const zone = index === 2 ? {} : { zone: index % 2 === 0 ? 'a' : 'b' };
    const labels = { app: 'clashing', door: `push-${index}`, team: index % 2 === 0 ? 'a' : 'b', ...zone };
    const streamFields = { ...labels, service_name: 'clashing' };
    return { door: 'push', streamFields, shape: 'clashing', rows, laterRows: rows.slice(0, index) };
  });
}

/** Streams of JSON and logfmt in which a few lines have their level in a form that no other line has. */
function oddSources(random: Random): readonly Source[] {
  const levels = ['info', 'info', 'warn', 'error'];
  const odd = [
    '"level":"Wrn"',
    '"LEVEL":"dbg"',
    '"level" : "Information"',
    String.raw`"level":"\u0065rror"`,
    '"lvl":"inf"',
    '"a":{"severity":"ERR"}',
    '"level":"notice","Level":"warn"',
    '"level":40',
  ];
  const oddWords = [
    'severity=ERR',
    'lvl=wrn',
    'level="Inf"',
    'LEVEL=dbg',
    'level=notice level=error',
    'lvl=info level=error',
    'level="a b"',
  ];
  return ['{', '{"ts":7,', 'ts=7 '].map((start, index): Source => {
    const rows = Array.from({ length: 300 }, (_, at): Row => {
      const [level, isOdd] = [random.pick(levels), random.chance(0.05)];
      const message = start.startsWith('{')
        ? `${start}${isOdd ? random.pick(odd) : `"level":"${level}"`},"msg":"m${at}","status":${random.below(3)}}${random.chance(0.02) ? ' tail' : ''}`
        : `${start}${isOdd ? random.pick(oddWords) : `level=${level}`} msg="m${at}"`;
      return { ns: endNs - BigInt(1 + at * 7 + random.below(7)) * second, message, fields: {} };
    });
    const streamFields = { app: 'odd', door: `push-${index}`, service_name: 'odd' };
    return { door: 'push', streamFields, shape: 'odd', rows, laterRows: rows.slice(0, index === 1 ? 9 : 0) };
  });
}

export function lawData(seed: number): Dataset {
  const made = makeDataset({ seed, tenants: ['law'], endNs, streams: 16, linesPerStream: 100 });
  const sources = [
    ...(made.tenants[0]?.sources ?? []),
    ...regularSources(Random.of(seed, 0)),
    ...mixedSources(Random.of(seed, 1)),
    ...clashingSources(Random.of(seed, 2)),
    ...sparseSources(Random.of(seed, 3)),
    ...oddSources(Random.of(seed, 4)),
  ];
  return { ...made, tenants: [{ tenant: 'law', sources, streams: viewOf(sources) }] };
}
