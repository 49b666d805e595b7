import type { Random } from '../watch/random.js';

/** The parts of queries: mostly valid for the corpus, occasionally odd or broken. */
interface Words {
  readonly good: readonly string[];
  readonly odd: readonly string[];
}

const oddShare = 0.04;

const labels: Words = {
  good: [
    'service_name',
    'app',
    'level',
    'env',
    'namespace',
    'pod',
    'node',
    'job',
    'k8s_pod_name',
    'detected_level',
  ],
  odd: ['__error__', 'nolabel', '__stream_shard__', 'constructor', '__proto__'],
};
const fields: Words = {
  good: [
    'status',
    'method',
    'path',
    'duration_ms',
    'msg',
    'trace_id',
    'user',
    'bytes',
    'http_status_code',
    'level',
    'pod',
  ],
  odd: ['__line__', '_entry', 'a.b', 'constructor', '__proto__', '_msg', '_time', '__error_details__'],
};
const values: Words = {
  good: ['checkout', 'api-gateway', 'orders', 'error', 'info', 'production', 'prod', 'GET', '200'],
  odd: ['', 'é', '\u0000', 'a|b', '.*', '$1', '\u{1f600}'],
};
const texts: Words = {
  good: ['error', 'GET', 'status=', '"level":"error"', 'a', ' ', 'user'],
  odd: ['', '\\', '`', '\u{1f600}', 'a'.repeat(300), '{{.x}}', '10.0.0.1', '\n'],
};
const patterns: Words = {
  good: ['.+', '.*', 'check.*', '(?i)error', 'a|b|c', '[a-z]+', '\\d{3}', 'e.*r', '^.{5}'],
  odd: ['^$', '(a+)+b', '(a|aa)*c', '\\pL{1,50}', '(?s).', '(', '[z-a]', 'x{1001}', '(?<n>a)', ''],
};
const captures: Words = {
  good: ['(?P<x>\\w+)=(?P<y>\\S+)', '(?P<status>\\d{3})', '(?P<method>[A-Z]+) (?P<path>/\\S*)'],
  odd: ['.*', '(', '(?P<a>x)(?P<a>y)', '(?P<z>(a?){30}a{30})'],
};
const shapes: Words = {
  good: ['<a> <b>', '<_>=<status> <_>', '<method> <path>', '"<user>"'],
  odd: ['<_>', '', '<a><b>', '<a', '<a>'.repeat(3)],
};
const ranges: Words = {
  good: ['1s', '5m', '1h', '90s', '10m', '1m30s'],
  odd: ['1d', '5', '0s', '1w1d', '-5m', '1ms', '99999h', '1ns'],
};
const rangeFunctions = [
  'rate',
  'count_over_time',
  'bytes_rate',
  'bytes_over_time',
  'absent_over_time',
  'rate_counter',
];
const unwrapFunctions = [
  'sum_over_time',
  'avg_over_time',
  'min_over_time',
  'max_over_time',
  'first_over_time',
  'last_over_time',
  'stddev_over_time',
  'stdvar_over_time',
  'quantile_over_time',
  'rate',
  'rate_counter',
];
const vectorFunctions = ['sum', 'avg', 'min', 'max', 'count', 'stddev', 'stdvar', 'topk', 'bottomk'];
const operators = ['+', '-', '*', '/', '%', '^', '==', '!=', '>', '>=', '<', '<=', 'and', 'or', 'unless'];
const templates: Words = {
  good: [
    '{{.status}}',
    '{{ .msg | ToUpper }}',
    '{{__line__}}',
    '{{ printf "%s-%d" .a 1 }}',
    '{{if .a}}x{{else}}y{{end}}',
    '{{ .a | trunc 5 | indent 3 }}',
    '{{ regexReplaceAll "a" .b "$1" }}',
    '{{ __timestamp__ | date "2006" }}',
    'plain',
  ],
  odd: [
    '{{range $i, $x := fromJson __line__}}{{$x}}{{end}}',
    '{{',
    '{{.a.b.c}}',
    '{{ div 1 0 }}',
    '{{ repeat 9999999 "x" }}',
    '{{ printf "%*d" 9999 1 }}',
    '',
  ],
};
const stray = [
  '|',
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  '"',
  '`',
  ',',
  '=',
  '=~',
  '!',
  '|=',
  '|>',
  'by',
  'without',
  'offset',
  'unwrap',
  'bool',
  'on',
  'ignoring',
  'group_left',
  '@',
  '#',
  '\n',
  '\0',
  '\u2028',
  '1e999',
  '0x',
  '-',
  '9'.repeat(400),
];

/** Generates LogQL from the grammar; most queries are valid. */
export class QueryWriter {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  query(): string {
    return this.#random.chance(0.5) ? this.#logs() : this.#metric(this.#random.between(0, 3));
  }

  #pick(...items: readonly string[]): string {
    return this.#random.pick(items);
  }

  #word(words: Words): string {
    return this.#random.pick(this.#random.chance(oddShare) ? words.odd : words.good);
  }

  #text(words: Words): string {
    const text = this.#word(words);
    return this.#random.chance(0.2) && !text.includes('`') ? `\`${text}\`` : JSON.stringify(text);
  }

  #label(): string {
    return this.#word(this.#random.chance(0.6) ? labels : fields);
  }

  #labels(): string {
    return this.#random.several(3, () => this.#label(), 1).join(', ');
  }

  #matcher(): string {
    const name = this.#word(labels);
    if (this.#random.chance(0.3)) return `${name}!=${this.#text(values)}`;
    if (this.#random.chance(0.3)) return `${name}=${this.#text(values)}`;
    return `${name}${this.#pick('=~', '=~', '!~')}${this.#text(patterns)}`;
  }

  selector(): string {
    const safe = this.#random.chance(0.97) ? [`${this.#pick('service_name', 'env')}=~".+"`] : [];
    return `{${[...safe, ...this.#random.several(2, () => this.#matcher())].join(', ')}}`;
  }

  #logs(): string {
    return [this.selector(), ...this.#random.several(4, () => this.#stage())].join(' ');
  }

  #stage(): string {
    const random = this.#random;
    switch (random.below(13)) {
      case 0:
        return `${this.#pick('|=', '!=')} ${this.#text(texts)}`;
      case 1:
        return `${this.#pick('|~', '!~')} ${this.#text(patterns)}`;
      case 2:
        return `${this.#pick('|>', '!>')} ${this.#text({ good: ['<_>error<_>', '<_> <_>', 'a<_>'], odd: ['', '<a>', '<_><_>'] })}`;
      case 3:
        return `|= ip("${this.#pick('10.0.0.0/8', '192.168.0.1-192.168.0.9', '::1', 'x')}")`;
      case 4:
        return `| json${random.chance(0.3) ? ` ${this.#label()}=${this.#text({ good: ['a.b', 'a[0]', 'status', '["x"]'], odd: ['a..b', '', 'a.'.repeat(300)] })}` : ''}`;
      case 5:
        return `| logfmt${this.#pick('', ' --strict', ' --keep-empty', ' a="b"')}`;
      case 6:
        return random.chance(0.5) ? `| regexp ${this.#text(captures)}` : `| pattern ${this.#text(shapes)}`;
      case 7:
        return `| ${this.#pick('unpack', 'decolorize')}`;
      case 8:
        return `| line_format ${this.#text(templates)}`;
      case 9:
        return `| label_format ${this.#label()}=${random.chance(0.5) ? this.#label() : this.#text(templates)}`;
      case 10:
        return `| ${this.#pick('drop', 'keep')} ${this.#label()}${random.chance(0.3) ? `=~${this.#text(patterns)}` : ''}`;
      default:
        return `| ${this.#filter(2)}`;
    }
  }

  #filter(depth: number): string {
    const random = this.#random;
    if (depth > 0 && random.chance(0.3))
      return `(${this.#filter(depth - 1)} ${this.#pick('and', 'or', ',')} ${this.#filter(depth - 1)})`;
    const name = this.#label();
    if (random.chance(0.4))
      return `${name}${this.#pick('=', '!=', '=~', '!~')}${this.#text(random.chance(0.5) ? values : patterns)}`;
    return `${name} ${this.#pick('==', '!=', '>', '>=', '<', '<=')} ${this.#pick('1', '-1', '1.5', '5ms', '1h', '10KB', '1e9', '0', '9e99')}`;
  }

  #metric(depth: number): string {
    const random = this.#random;
    if (depth === 0) return this.#range();
    switch (random.below(7)) {
      case 0:
        return `(${this.#metric(depth - 1)} ${random.pick(operators)}${this.#matching()} ${this.#operand(depth - 1)})`;
      case 1:
        return `label_replace(${this.#metric(depth - 1)}, "${this.#label()}", ${this.#text({ good: ['$1', '$1$1', 'x'], odd: ['${x}', '', '$9'] })}, "${this.#label()}", ${this.#text({ good: ['(.*)', '(.).*', '.*'], odd: patterns.odd })})`;
      case 2:
        return this.#range();
      default:
        return this.#vector(depth);
    }
  }

  #vector(depth: number): string {
    const name = this.#random.pick(vectorFunctions);
    const inner = this.#metric(depth - 1);
    if (this.#random.chance(0.1))
      return `${this.#pick('sort', 'sort_desc', 'approx_topk', 'absent')}(${inner})`;
    const parameter = /topk|bottomk/.test(name)
      ? `${this.#word({ good: ['1', '5', '100'], odd: ['0', '-1', '1e9', '1.5'] })}, `
      : '';
    return `${name}${this.#grouping()}(${parameter}${inner})`;
  }

  #operand(depth: number): string {
    const random = this.#random;
    if (random.chance(0.3))
      return this.#word({ good: ['1', '0', '2.5', 'vector(1)', '1e308'], odd: ['-1', '1e999', '.5'] });
    return this.#metric(depth);
  }

  #matching(): string {
    if (this.#random.chance(0.7)) return this.#random.chance(0.2) ? ' bool' : '';
    return ` ${this.#pick('on', 'ignoring')}(${this.#labels()})${this.#pick('', ' group_left', ' group_right(pod)')}`;
  }

  #grouping(): string {
    return this.#random.chance(0.4) ? '' : ` ${this.#pick('by', 'without')} (${this.#labels()}) `;
  }

  #range(): string {
    const random = this.#random;
    const offset = random.chance(0.15) ? ` offset ${this.#word(ranges)}` : '';
    if (random.chance(0.5))
      return `${random.pick(rangeFunctions)}(${this.#logs()} [${this.#word(ranges)}]${offset})`;
    const name = random.pick(unwrapFunctions);
    const parameter =
      name === 'quantile_over_time'
        ? `${this.#word({ good: ['0.9', '0', '0.5'], odd: ['2', '-1', '1e9'] })}, `
        : '';
    const converted = this.#pick('', 'duration', 'bytes', 'duration_seconds');
    const unwrapped = converted === '' ? this.#word(fields) : `${converted}(${this.#word(fields)})`;
    return `${name}(${parameter}${this.#logs()} | unwrap ${unwrapped} [${this.#word(ranges)}]${offset})`;
  }
}

/** Changes a text in a few places: it cuts, doubles or swaps pieces, or replaces them with LogQL punctuation. */
export function mutate(random: Random, text: string): string {
  let changed = text;
  for (let times = random.between(1, 4); times > 0; times -= 1) {
    const at = random.below(changed.length + 1);
    const to = Math.min(changed.length, at + random.below(12));
    const piece = changed.slice(at, to);
    switch (random.below(5)) {
      case 0:
        changed = changed.slice(0, at) + changed.slice(to);
        break;
      case 1:
        changed = changed.slice(0, at) + piece.repeat(random.between(2, 20)) + changed.slice(to);
        break;
      case 2:
        changed = changed.slice(0, at) + random.pick(stray) + changed.slice(at);
        break;
      case 3:
        changed = changed.slice(0, at) + random.pick(stray) + changed.slice(to);
        break;
      default:
        changed = changed.slice(0, at) + String.fromCharCode(random.below(0x3000)) + changed.slice(at + 1);
    }
  }
  return changed;
}
