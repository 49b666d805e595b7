import { asLabel } from '../data/facts.js';
import { addresses, anyText, durations, levels, numbers, sizes } from '../data/values.js';
import { aLabel, aValue, aWord, escaped, goQuoted, quoted, type Context } from './context.js';
import { template } from './templates.js';

type StageWriter = (context: Context) => string;

/** One stage that can appear anywhere; later stages can use the names that it adds. */
export function stage(context: Context): string {
  const { random } = context;
  const writers: readonly StageWriter[] = [
    lineFilter,
    lineFilter,
    lineFilter,
    parser,
    parser,
    parser,
    labelFilter,
    labelFilter,
    labelFilter,
    labelFilter,
    lineFormat,
    labelFormat,
    labelFormat,
    dropKeep,
    decolorize,
  ];
  return random.pick(writers)(context);
}

export function stages(context: Context, most: number, least = 0): string {
  const written = context.random.several(most, () => stage(context), least);
  // `drop a != "x"` would continue the stage, so a line filter must not follow a bare name.
  return written
    .filter((text, index) => !(/^!/.test(text) && /^\| *(drop|keep)/.test(written[index - 1] ?? '')))
    .map((text) => ` ${text}`)
    .join('');
}

export function lineFilter(context: Context): string {
  const { random } = context;
  const word = aWord(context);
  const kind = random.below(12);
  if (kind < 5)
    return `|= ${quoted(random, random.chance(0.3) ? word.slice(0, random.between(1, 4)) : word)}`;
  if (kind === 5) return `!= ${quoted(random, random.chance(0.7) ? anyText(random) : word)}`;
  if (kind < 9) return `|~ ${quoted(random, wordPattern(context, word))}`;
  if (kind === 9) return `!~ ${quoted(random, wordPattern(context, random.chance(0.5) ? 'zzz' : word))}`;
  if (kind === 10) return orChain(context, word);
  if (random.chance(0.4))
    return `|= ip("${random.pick(['10.0.0.0/8', '192.168.4.0-192.168.4.99', '::1', random.pick(addresses.slice(0, 5)), 'fe80::/10'])}")`;
  return `${random.pick(['|>', '|>', '!>'])} ${quoted(random, random.pick([`<_>${word}<_>`, `<_> ${word}<_>`, `${word}<_>`, `<_>${word}`, '<_> <_>']))}`;
}

function orChain(context: Context, word: string): string {
  const { random } = context;
  const op = random.pick(['|=', '|=', '|~', '!=', '!~']);
  const isRegexp = op.endsWith('~');
  const others = random.several(2, () => random.pick([anyText(random), aWord(context), 'zz', '']), 1);
  return `${op} ${[word, ...others].map((text) => quoted(random, isRegexp ? escaped(text) : text)).join(' or ')}`;
}

/** A regular expression derived from a word, often one that matches it. */
export function wordPattern({ random, facts }: Context, word: string): string {
  const safe = escaped(word);
  const other = escaped(facts.words.length > 0 ? random.pick(facts.words) : 'b');
  const finding = [
    safe,
    `${safe}.*`,
    `.*${safe}`,
    `.*${safe}.*`,
    `^${safe}`,
    `${safe}$`,
    `(?i)${safe.toLowerCase()}`,
    `(?i)${safe.toUpperCase()}`,
    `${safe}|${other}`,
    `(${safe}|zz)`,
    `(?:${other}|${safe})`,
    '.+',
  ];
  if (random.chance(0.6)) return random.pick(finding);
  return random.pick([
    `${safe}.*${other}`,
    `${safe}.*(${other}|zz)`,
    `(a|${safe}).*${other}`,
    `${safe}(x|)`,
    `${safe}?`,
    `[${escaped(word.slice(0, 1)) || 'a'}-z]+`,
    '\\d+',
    '\\w+\\s\\w+',
    '[0-9]{3}',
    '.+',
    '.',
    '',
    '(?s)a.b',
    '\\berr(or)?\\b',
    '^$',
    '[^a-z]',
    '(?i)(error|warn).*',
  ]);
}

export function parser(context: Context): string {
  const { random, facts } = context;
  const kind = random.chance(0.85) ? facts.kind : random.pick(['json', 'logfmt', 'packed', 'text'] as const);
  if (kind === 'packed') return random.chance(0.7) ? learn(context, '| unpack') : json(context);
  if (kind === 'json') return json(context);
  if (kind === 'logfmt') return random.chance(0.8) ? logfmt(context) : json(context);
  return random.pick([regexp, regexp, pattern, pattern, logfmt, json])(context);
}

function learn({ facts, known }: Context, text: string): string {
  for (const [name, value] of facts.fields) {
    if (known.has(name)) known.set(`${name}_extracted`, value);
    else known.set(name, value);
  }
  return text;
}

function json(context: Context): string {
  const { random, facts, known } = context;
  if (random.chance(0.65)) return learn(context, '| json');
  const paths = facts.paths.length > 0 ? facts.paths : ['a', 'level'];
  const params = random.several(
    3,
    () => {
      const path = random.pick(paths);
      const name = random.pick(['v', 'w', 'level', 'app', asLabel(path) || 'p']);
      known.set(name, aValue(context, asLabel(path.replaceAll('.', '_'))));
      return /^\w+$/.test(path) && /^[a-z_]/i.test(path) && random.chance(0.3)
        ? path
        : `${name}=${quoted(random, path)}`;
    },
    1,
  );
  return `| json ${params.join(', ')}`;
}

function logfmt(context: Context): string {
  const { random, facts, known } = context;
  const flags = random.pick(['', '', '', ' --strict', ' --keep-empty', ' --strict --keep-empty']);
  const names = [...facts.fields.keys()].filter((name) => /^[A-Za-z_]\w*$/.test(name));
  if (random.chance(0.65) || names.length === 0) return learn(context, `| logfmt${flags}`);
  const params = random.several(
    3,
    () => {
      const field = random.pick(names);
      const name = random.pick([field, field, 'v', 'level', 'app']);
      known.set(name, facts.fields.get(field) ?? '');
      return name === field ? name : `${name}="${field}"`;
    },
    1,
  );
  return `| logfmt${flags} ${params.join(', ')}`;
}

function regexp(context: Context): string {
  const { random, known } = context;
  known.set('g', aWord(context));
  known.set('h', String(random.below(500)));
  return `| regexp ${quoted(random, random.pick(['(?P<g>\\w+) (?P<h>\\w+)', '(?P<g>\\S+)=(?P<h>\\S+)', '(?P<h>\\d+)', '^(?P<g>.)', '"(?P<g>[^"]*)"', '(?P<app>\\w+):? (?P<g>.*)', '(?P<level>(?i)error|warn|info)', '(?<g>[a-z]+)(?P<h>\\d*)']))}`;
}

function pattern(context: Context): string {
  const { random, known } = context;
  known.set('p', aWord(context));
  known.set('q', String(random.below(500)));
  return `| pattern ${quoted(random, random.pick(['<p> <q>', '<p> <_> <q>', '<_>[<p>] <q>', '<p>:<q>', '<_> "<p> <_>" <q> <_>', '<_>=<p> <q>', '<p>,<_>,<q>', '<_> <level> <p>']))}`;
}

function decolorize(): string {
  return '| decolorize';
}

export function labelFilter(context: Context): string {
  const filter = filterTree(context, context.random.chance(0.25) ? 2 : 0);
  return `| ${filter}`;
}

function filterTree(context: Context, depth: number): string {
  const { random } = context;
  if (depth === 0 || random.chance(0.3)) return filterTerm(context);
  const [left, right] = [filterTree(context, depth - 1), filterTree(context, depth - 1)];
  const joined = `${left}${random.pick([' and ', ' or ', ' or ', ', ', ' '])}${right}`;
  return random.chance(0.4) ? `(${joined})` : joined;
}

const compareOps = ['==', '=', '!=', '>', '>=', '<', '<='] as const;
const isDuration = /^[-+]?(?:\d*\.?\d+(?:ns|us|µs|ms|s|m|h|d|w))+$/;
const isSize = /^\d*\.?\d+ ?(?:[kmgt]i?)?b$/i;
const isNumber = /^\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

function filterTerm(context: Context): string {
  const { random } = context;
  const name = aLabel(context);
  const value = aValue(context, name);
  const numeric = numericFilter(context, name, value);
  if (numeric !== undefined && random.chance(0.7)) return numeric;
  const kind = random.below(10);
  if (kind < 3) return `${name}=${quoted(random, value)}`;
  if (kind < 5) return `${name}!=${quoted(random, random.chance(0.5) ? '' : anyText(random))}`;
  if (kind < 8) return `${name}=~${quoted(random, wordPattern(context, value))}`;
  if (kind === 8)
    return `${name}!~${quoted(random, wordPattern(context, random.chance(0.5) ? 'zzz' : value))}`;
  if (random.chance(0.4))
    return `${name}${random.pick(['=', '!='])}ip("${random.pick(['10.0.0.0/8', '192.168.4.17', '::1'])}")`;
  if (random.chance(0.2))
    return random.pick([
      '__error__=""',
      '__error__!=""',
      '__error__=~".*Err"',
      `__error_details__!=${goQuoted('x')}`,
    ]);
  return `${name} ${random.pick(compareOps)} ${random.pick(['0', '1', '200', '1.5', '5ms', '1s', '1h', '1KB', '1MiB', '1e3'])}`;
}

function numericFilter({ random }: Context, name: string, value: string): string | undefined {
  const op = random.pick(compareOps);
  if (isDuration.test(value))
    return `${name} ${op} ${random.pick([value.replace(/^[-+]/, ''), '1s', '5ms', '1m'])}`;
  if (isSize.test(value))
    return `${name} ${op} ${random.pick([value.replace(' ', ''), '1KB', '10B', '1MiB'])}`;
  if (isNumber.test(value)) return `${name} ${op} ${random.pick([value, '200', '0', '500', '1.5'])}`;
  return undefined;
}

function lineFormat(context: Context): string {
  return `| line_format ${quoted(context.random, template(context))}`;
}

function labelFormat(context: Context): string {
  const { random, known } = context;
  const assignments = new Map<string, string>();
  for (let count = random.between(1, 3); count > 0; count -= 1) {
    const name = random.chance(0.5) ? random.pick(['n1', 'n2', 'out']) : aLabel(context);
    if (!/^[A-Za-z]\w*$/.test(name)) continue;
    const source = aLabel(context);
    assignments.set(name, random.chance(0.4) ? source : quoted(random, template(context)));
    known.set(name, known.get(source) ?? '');
  }
  if (assignments.size === 0) return '| label_format n1=`x`';
  return `| label_format ${[...assignments].map(([name, text]) => `${name}=${text}`).join(random.pick([',', ', ']))}`;
}

function dropKeep(context: Context): string {
  const { random } = context;
  const items = random.several(
    3,
    () => {
      const name = random.chance(0.1) ? '__error__' : aLabel(context);
      if (random.chance(0.65)) return name;
      return `${name}${random.pick(['=', '!=', '=~', '!~'])}${quoted(random, escaped(aValue(context, name)))}`;
    },
    1,
  );
  return `| ${random.pick(['drop', 'drop', 'keep'])} ${items.join(', ')}`;
}

/** Values that a user would write into a filter, for intentionally invalid requests. */
export const literals: readonly string[] = [...levels, ...numbers, ...durations, ...sizes];
