/** The kind of line for which a query is expensive; `makeLine` builds one. */
export type LineKind =
  'json' | 'wide-json' | 'deep-json' | 'logfmt' | 'letters' | 'runs' | 'dots' | 'addresses' | 'escapes';

/** A query that costs far more than its text suggests. */
export interface HostileQuery {
  readonly name: string;
  /** LogQL; `{app="hostile"}` selects the lines. */
  readonly query: string;
  readonly line: LineKind;
}

/** A line of about `length` characters. */
export function makeLine(kind: LineKind, length: number): string {
  switch (kind) {
    case 'json':
      return JSON.stringify({ level: 'info', a: { a: 'x' }, text: runs(length) });
    case 'wide-json':
      return `{${Array.from({ length: Math.floor(length / 16) }, (_, at) => `"k${at}":"v${at}"`).join(',')}}`;
    case 'deep-json':
      return '{"a":'.repeat(length / 6) + '1' + '}'.repeat(length / 6);
    case 'logfmt':
      return Array.from({ length: Math.floor(length / 16) }, (_, at) => `k${at}=v${at}`).join(' ');
    case 'letters':
      return 'a'.repeat(length);
    case 'runs':
      return runs(length);
    case 'dots':
      return 'a.'.repeat(length / 2);
    case 'addresses':
      return '1.1.1.1:'.repeat(length / 8);
    case 'escapes':
      return '\u001b[[[[['.repeat(length / 6);
  }
}

/**
 * Runs of a letter, each just too short for a pattern that requires a certain number of it, so that an automaton has to follow them all.
 * The
 * characters that patterns require at their ends are present, so that a search for them does not rule out a match.
 */
function runs(length: number): string {
  return `${`${'a'.repeat(499)}b`.repeat(Math.ceil(length / 500))}-!ſc`;
}

const logs = '{app="hostile"}';
const groups = (count: number): string => Array.from({ length: count }, (_, at) => `(?P<g${at}>a?)`).join('');
/** The backend does not run line filters after this stage. */
const here = `${logs} | unpack`;
const double = '{{.z}}{{.z}}';

/** Queries that once blocked the event loop, or exhausted the memory, for all clients. */
export const hostileQueries: readonly HostileQuery[] = [
  { name: 'json 500 times', query: logs + ' | json'.repeat(500), line: 'wide-json' },
  { name: 'logfmt 500 times', query: logs + ' | logfmt'.repeat(500), line: 'logfmt' },
  { name: 'unpack 500 times', query: logs + ' | unpack'.repeat(500), line: 'wide-json' },
  { name: 'pattern 500 times', query: logs + ' | pattern `<a>.<b>.<c>x`'.repeat(500), line: 'dots' },
  { name: 'decolorize 500 times', query: logs + ' | decolorize'.repeat(500), line: 'escapes' },
  { name: 'decolorize', query: `${logs} | decolorize`, line: 'escapes' },
  { name: 'nested optionals', query: `${logs} | regexp "(?P<z>(a?){500}a{500})"`, line: 'runs' },
  { name: '600 groups', query: `${logs} | regexp "${groups(600)}b{3}"`, line: 'runs' },
  { name: '900 groups', query: `${logs} | regexp "${groups(900)}"`, line: 'runs' },
  { name: 'letters repeated', query: `${logs} | regexp "(?P<z>\\\\p{L}{1,1000}!)"`, line: 'runs' },
  { name: 'line filter by a repeat', query: `${here} |~ "(a?){500}a{500}b"`, line: 'runs' },
  { name: 'line filter that ignores case', query: `${here} !~ "(?i)([k-z]a|a){1,200}ſ"`, line: 'runs' },
  { name: '40 line filters', query: here + ' !~ "(a|aa){100}(b|-){2}"'.repeat(40), line: 'runs' },
  {
    name: 'path of 20,000 parts',
    query: `${logs} | json z="${Array(20_000).fill('a').join('.')}"`,
    line: 'deep-json',
  },
  {
    name: '2,000 paths',
    query: `${logs} | json ${Array.from({ length: 2000 }, (_, at) => `z${at}="a.b${at}[0]"`).join(',')}`,
    line: 'wide-json',
  },
  {
    name: '2,000 alternatives',
    query: `${logs} |~ "${Array.from({ length: 2000 }, (_, at) => `w${at}`).join('|')}"`,
    line: 'letters',
  },
  {
    name: '2,000 alternatives of a label',
    query: `${logs} | json | a=~"${Array.from({ length: 2000 }, (_, at) => `w${at}`).join('|')}"`,
    line: 'json',
  },
  {
    name: 'label_format of 500 labels',
    query: `${logs} | label_format ${Array.from({ length: 500 }, (_, at) => `l${at}="{{.app}}"`).join(',')}`,
    line: 'letters',
  },
  { name: 'deep JSON', query: `${logs} | json`, line: 'deep-json' },
  { name: 'wide JSON', query: `${logs} | json`, line: 'wide-json' },
  { name: 'address in a line', query: `${here} |= ip("9.0.0.0/8")`, line: 'addresses' },
  { name: 'address in digits', query: `${here} |= ip("9.9.9.9")`, line: 'letters' },
  { name: 'address in a label', query: `${logs} | json | text = ip("::1")`, line: 'json' },
  { name: 'label filter', query: `${logs} | json | text =~ ".*(a?){500}a{500}b.*"`, line: 'json' },
  { name: 'drop by a repeat', query: `${logs} | json | drop text=~".*(a?){500}a{500}b.*"`, line: 'json' },
  {
    name: 'regexReplaceAll',
    query: `${logs} | line_format "{{ regexReplaceAll \\"(a?){100}a{100}b\\" __line__ \\"\\" }}"`,
    line: 'letters',
  },
  { name: 'repeat', query: `${logs} | line_format "{{ repeat 1000000 __line__ }}"`, line: 'letters' },
  {
    name: 'nested range',
    query: `${logs} | line_format "{{range fromJson __line__}}{{range fromJson __line__}}{{.}}{{end}}{{end}}"`,
    line: 'wide-json',
  },
  {
    name: 'printf width',
    query: `${logs} | line_format "{{ printf \\"%100000000d\\" 1 }}"`,
    line: 'letters',
  },
  {
    name: 'labels that double',
    query: `${logs} | label_format z="{{__line__}}"${` | label_format z="${double}"`.repeat(30)}`,
    line: 'letters',
  },
  {
    name: 'lines that double',
    query: logs + ' | line_format "{{__line__}}{{__line__}}"'.repeat(30),
    line: 'letters',
  },
  {
    name: 'many labels of one line',
    query: `${logs} | label_format ${Array.from({ length: 1000 }, (_, at) => `z${at}="{{__line__}}"`).join(',')}`,
    line: 'letters',
  },
  { name: 'unwrap', query: `sum_over_time(${logs} | json | unwrap bytes(text) [5m])`, line: 'json' },
  {
    name: 'label_replace over long values',
    query: `label_replace(count_over_time(${logs} | json [5m]), "z", "$1", "text", ".*((a?){500}a{500}b).*")`,
    line: 'json',
  },
  {
    name: 'label_replace that doubles',
    query: nest(12, `count_over_time(${logs} | json [5m])`),
    line: 'json',
  },
  {
    name: 'metric over 500 parsers',
    query: `sum(rate(${logs + ' | json'.repeat(500)} [5m]))`,
    line: 'wide-json',
  },
  {
    name: 'pattern of 120 KiB',
    query: `${logs} | regexp "(?P<z>${'[a-z]?x'.repeat(17_000)})"`,
    line: 'letters',
  },
  { name: 'pattern of classes', query: `${logs} |~ "${'\\\\pL'.repeat(20_000)}"`, line: 'letters' },
  {
    name: '200 patterns of classes',
    query: here + ' |~ "(?i)\\\\p{L}{1,500}!"'.repeat(200),
    line: 'runs',
  },
];

function nest(depth: number, inner: string): string {
  return depth === 0 ? inner : `label_replace(${nest(depth - 1, inner)}, "a", "$1$1$1$1", "text", "(.*)")`;
}
