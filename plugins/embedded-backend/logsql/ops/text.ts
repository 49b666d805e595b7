import { compileRegExp } from '../../../../core/logql/regexp/index.js';
import { jsonArrayTexts } from '../../../../core/victoria/logsql/eval/json.js';
import { OverlayRow } from '../../../../core/victoria/logsql/ops/derived-row.js';
import type { Operator, PipeContext } from '../../../../core/victoria/logsql/ops/operator.js';
import { compileCondition, updateOperator } from '../../../../core/victoria/logsql/ops/update.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type {
  CollapseNumsPipe,
  DecolorizePipe,
  DerivePipe,
  LimitedReplacePipe,
  SplitPipe,
  UnrollPipe,
} from '../ast.js';

// CSI sequences: ESC, "[", parameters, one letter.
const colors = /\u001b\[[0-9;:?]*[A-Za-z]/g;

/** `replace` with a limit, and `replace_regexp`. */
export function limitedReplaceOperator(
  pipe: LimitedReplacePipe,
  context: PipeContext,
  next: Operator,
): Operator {
  const { at } = pipe;
  const replace = pipe.kind === 'replace' ? literalReplacer(pipe) : regexpReplacer(pipe);
  return updateOperator(pipe, context, (row) => [[at, replace(row.get(at))]], next);
}

function literalReplacer({ old, replacement, limit = 0 }: LimitedReplacePipe): (text: string) => string {
  if (old === '') return (text) => text;
  if (limit === 0) return (text) => text.replaceAll(old, () => replacement);
  return (text) => {
    const parts = text.split(old);
    const replaced = Math.min(limit, parts.length - 1);
    return [...parts.slice(0, replaced), parts.slice(replaced).join(old)].join(replacement);
  };
}

function regexpReplacer({ old, replacement, limit = 0 }: LimitedReplacePipe): (text: string) => string {
  const compiled = compileRegExp(old);
  if (limit === 0) return (text) => compiled.replaceAll(text, replacement);
  return (text) => {
    let done = '';
    let rest = text;
    for (let i = 0; i < limit; i++) {
      const match = compiled.exec(rest);
      if (match === undefined) break;
      const found = rest.slice(match.index, match.end);
      done += rest.slice(0, match.index) + compiled.replaceAll(found, replacement);
      // An empty match must not be found again at the same position.
      const end = match.end > match.index ? match.end : match.end + 1;
      done += rest.slice(match.end, end);
      rest = rest.slice(end);
      if (rest === '') break;
    }
    return done + rest;
  };
}

/** `len` in bytes of UTF-8, `hash` (64 bits, FNV-1a), `json_array_len`. */
export function deriveOperator(pipe: DerivePipe, context: PipeContext, next: Operator): Operator {
  const derive = derivations[pipe.kind];
  return updateOperator({}, context, (row) => [[pipe.as, derive(row.get(pipe.field))]], next);
}

const derivations: Readonly<Record<DerivePipe['kind'], (value: string) => string>> = {
  len: (value) => Buffer.byteLength(value).toString(),
  hash: (value) => {
    let hash = 0xcbf29ce484222325n;
    for (const byte of Buffer.from(value)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    return hash.toString();
  },
  json_array_len: (value) => (jsonArrayTexts(value)?.length ?? 0).toString(),
};

/** `collapse_nums`: numbers become `<N>`. */
export function collapseOperator(pipe: CollapseNumsPipe, context: PipeContext, next: Operator): Operator {
  const { at, prettify } = pipe;
  return updateOperator(pipe, context, (row) => [[at, collapseNums(row.get(at), prettify)]], next);
}

/** `decolorize`: removes terminal colours. */
export function decolorizeOperator(pipe: DecolorizePipe, context: PipeContext, next: Operator): Operator {
  const { field } = pipe;
  return updateOperator({}, context, (row) => [[field, row.get(field).replace(colors, '')]], next);
}

/** `split`: the pieces as a JSON array. */
export function splitOperator(pipe: SplitPipe, context: PipeContext, next: Operator): Operator {
  const compute = (row: RowView): [string, string][] => {
    const text = row.get(pipe.from);
    const pieces = pipe.separator === '' ? Array.from(text) : text.split(pipe.separator);
    return [[pipe.as, JSON.stringify(pieces)]];
  };
  return updateOperator({}, context, compute, next);
}

/**
 * `unroll`: a row per item of JSON arrays; shorter arrays are padded with empty values, and anything but an array counts as one empty item.
 */
export function unrollOperator(pipe: UnrollPipe, context: PipeContext, next: Operator): Operator {
  const applies = compileCondition(pipe.condition, context);
  return {
    push(row) {
      if (!applies(row)) return next.push(row);
      const columns = pipe.by.map((name) => ({ name, items: jsonArrayTexts(row.get(name)) ?? [] }));
      const count = Math.max(1, ...columns.map(({ items }) => items.length));
      for (let i = 0; i < count; i++) {
        const changes = new Map(columns.map(({ name, items }) => [name, items[i] ?? '']));
        if (!next.push(new OverlayRow(row, changes))) return false;
      }
      return true;
    },
    finish: () => next.finish(),
  };
}

const run = /[0-9A-Fa-f]+/g;
const startsBehind = new Set('_TXxvshm');
const endsBefore = new Set('_TZsmhun');
/** Characters of words; unlike in filters, all others separate words. */
const wordCharacter = /\w/;

/** Replaces decimal and hexadecimal numbers between word boundaries by `<N>`. */
function collapseNums(text: string, prettify: boolean): string {
  const collapsed = text.replace(run, (digits: string, at: number) => {
    const before = text[at - 1];
    const after = text[at + digits.length];
    const opens = before === undefined || startsBehind.has(before) || !wordCharacter.test(before);
    const closes = after === undefined || endsBefore.has(after) || !wordCharacter.test(after);
    return opens && closes && isNumber(digits) ? '<N>' : digits;
  });
  return prettify ? prettifyNums(collapsed) : collapsed;
}

// Decimal digits are always a number; hexadecimal digits only when there is an even count of at least four.
function isNumber(digits: string): boolean {
  if (/^[0-9]+$/.test(digits)) return true;
  return digits.length >= 4 && digits.length % 2 === 0;
}

const pretty: readonly (readonly [RegExp, string])[] = [
  [/<N>-<N>-<N>-<N>-<N>/g, '<UUID>'],
  [/<N>\.<N>\.<N>\.<N>/g, '<IP4>'],
  [/<N>:<N>:<N>(?:[.,]<N>)?/g, '<TIME>'],
  [/<N>-<N>-<N>/g, '<DATE>'],
  [/<N>\/<N>\/<N>/g, '<DATE>'],
  [/<DATE>[T ]<TIME>(?:Z|[-+]<N>:<N>)?/g, '<DATETIME>'],
];

function prettifyNums(text: string): string {
  return pretty.reduce((current, [form, name]) => current.replace(form, name), text);
}
