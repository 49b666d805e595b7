/** Slips of the pen, each on one line, and how the line was meant. Whether it was is for the parser to say (core/kernel/pipeline/read-yaml.ts). */

/** One line, as it may have been meant. */
export interface Slip {
  /** Counted from 0. */
  readonly line: number;
  readonly meant: string;
  /** Where in the line the slip is, counted from 0, and how much is underlined. */
  readonly column: number;
  readonly length: number;
  readonly message: string;
  readonly fix: string;
}

/** Where a fault shows: slips that show at once are looked for near it, others anywhere above. */
export interface Symptom {
  /** Counted from 0. */
  readonly line: number;
  /** Whether the text is YAML all the same. */
  readonly parses: boolean;
}

type Finder = (line: string, at: number, lines: readonly string[]) => readonly Slip[];

interface Kind {
  readonly find: Finder;
  /** How many lines above the symptom the slip may be. */
  readonly reach: number;
  /** Whether a text with such a slip may still be YAML, of another meaning. */
  readonly mayParse?: boolean;
}

/** What stands before the value of a line: indent, dash, key. */
const lead = String.raw`^(\s*(?:- )?(?:[\w.-]+:\s+)?)`;
const shownLength = 60;

function shown(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > shownLength ? `${trimmed.slice(0, shownLength)}...` : trimmed;
}

/** A line without the comment at its end, and that comment. */
function withoutComment(line: string): readonly [text: string, comment: string] {
  const comment = /\s+#.*$/.exec(line)?.[0] ?? '';
  return [line.slice(0, line.length - comment.length), comment];
}

const tab: Finder = (line, at, lines) => {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
  if (!indent.includes('\t')) return [];
  const place = { line: at, column: 0, length: indent.length };
  return indentsNear(at, lines).map((spaces) => ({
    ...place,
    meant: ' '.repeat(spaces) + line.trimStart(),
    message: 'a tab stands in the indent of this line',
    fix: 'indent with spaces',
  }));
};

const dash: Finder = (line, at) => {
  const match = /^(\s*)-(?=["'{[A-Za-z_])/.exec(line);
  if (match === null) return [];
  const indent = match[1] ?? '';
  const meant = `${match[0]} ${line.slice(match[0].length)}`;
  return [
    {
      line: at,
      meant,
      column: indent.length,
      length: line.trimEnd().length - indent.length,
      message: 'there is no space behind the dash',
      fix: `write "${shown(withoutComment(meant)[0])}"`,
    },
  ];
};

const quote: Finder = (line, at) => {
  const match = new RegExp(`${lead}(["'])`).exec(line);
  if (match === null) return [];
  const [, before = '', mark = ''] = match;
  const place = { line: at, column: before.length, length: 1 };
  const [text, comment] = withoutComment(line);
  const ways = comment === '' ? [line] : [text, line];
  return ways.map((way) => ({
    ...place,
    meant: way === text ? `${text.trimEnd()}${mark}${comment}` : `${line.trimEnd()}${mark}`,
    message: `the quote ${mark} that opens here is not closed`,
    fix: `close it: ${shown(text.slice(before.length))}${mark}`,
  }));
};

const closing: ReadonlyMap<string, string> = new Map([
  ['[', ']'],
  ['{', '}'],
]);

/** The brackets of a line that are open at its end, those in quotes and comments left out, and the first that closes what it did not open. */
function bracketsOf(line: string): {
  readonly open: readonly { readonly mark: string; readonly column: number }[];
  readonly wrong: number | undefined;
} {
  const open: { mark: string; column: number }[] = [];
  let inside: string | undefined;
  for (let column = 0; column < line.length; column += 1) {
    const mark = line.charAt(column);
    if (inside !== undefined) {
      if (mark === inside) inside = undefined;
      continue;
    }
    const before = line[column - 1] ?? ' ';
    if ((mark === '"' || mark === "'") && /[\s[{,:]/.test(before)) inside = mark;
    else if (mark === '#' && /\s/.test(before)) break;
    else if (closing.has(mark)) open.push({ mark, column });
    else if (mark === ']' || mark === '}') {
      if (closing.get(open.at(-1)?.mark ?? '') !== mark) return { open, wrong: column };
      open.pop();
    }
  }
  return { open, wrong: undefined };
}

const bracket: Finder = (line, at) => {
  const { open, wrong } = bracketsOf(line);
  const last = open.at(-1);
  if (last === undefined) return [];
  const place = { line: at, column: last.column, length: 1 };
  if (wrong !== undefined) {
    const meant = line.slice(0, wrong) + (closing.get(last.mark) ?? '') + line.slice(wrong + 1);
    const message = `the bracket ${last.mark} that opens here is closed by ${line[wrong] ?? ''}`;
    return [
      { ...place, meant, message, fix: `close it: ${shown(withoutComment(meant)[0].slice(last.column))}` },
    ];
  }
  const [text, comment] = withoutComment(line);
  const closers = open.toReversed().map(({ mark }) => closing.get(mark) ?? '');
  const meant = `${text.trimEnd()}${last.mark === '{' ? ' ' : ''}${closers.join('')}${comment}`;
  const message = `the bracket ${last.mark} that opens here is not closed`;
  return [
    { ...place, meant, message, fix: `close it: ${shown(withoutComment(meant)[0].slice(last.column))}` },
  ];
};

const colon: Finder = (line, at) => {
  const match = /^(\s*(?:- )?)([A-Za-z][\w-]*)(\s*[:=]\s*|\s+)(\S.*)$/.exec(line);
  if (match === null) return [];
  const [, before = '', key = '', between = '', rest = ''] = match;
  if (between.startsWith(':') && between.length > 1) return [];
  const meant = `${before}${key}: ${rest}`;
  const message = between.startsWith(':')
    ? `there is no space behind the colon of "${key}"`
    : `there is no colon behind "${key}"`;
  const place = { line: at, column: before.length, length: key.length };
  return [{ ...place, meant, message, fix: `write "${shown(withoutComment(`${key}: ${rest}`)[0])}"` }];
};

const indicator: Finder = (line, at) => {
  const match = new RegExp(`${lead}([@\`%])`).exec(line);
  if (match === null) return [];
  const [, before = '', mark = ''] = match;
  const [text, comment] = withoutComment(line);
  const value = `"${text.slice(before.length)}"`;
  return [
    {
      line: at,
      meant: before + value + comment,
      column: before.length,
      length: text.length - before.length,
      message: `a value cannot begin with ${mark}`,
      fix: `put it in quotes: ${shown(value)}`,
    },
  ];
};

/** `key: a: b`. */
const nested: Finder = (line, at) => {
  const match = /^(\s*(?:- )?[\w.-]+:\s+)([^"'[{|>&*!#\s].*:\s.*)$/.exec(withoutComment(line)[0]);
  if (match === null) return [];
  const [, before = '', value = ''] = match;
  const meant = `${before}"${value.replaceAll('"', '\\"')}"${withoutComment(line)[1]}`;
  return [
    {
      line: at,
      meant,
      column: before.length,
      length: value.length,
      message: 'a value that holds ": " needs quotes',
      fix: `put it in quotes: ${shown(meant.slice(before.length))}`,
    },
  ];
};

const referenceInBrackets: Finder = (line, at) => {
  const match = /[[{,:]\s*(\$\{[^}\s]*\})/.exec(line);
  const reference = match?.[1];
  if (
    match === null ||
    reference === undefined ||
    bracketsOf(line.slice(0, match.index + 1)).open.length === 0
  )
    return [];
  const column = match.index + match[0].length - reference.length;
  return [
    {
      line: at,
      meant: `${line.slice(0, column)}"${reference}"${line.slice(column + reference.length)}`,
      column,
      length: reference.length,
      message: 'inside brackets a reference needs quotes',
      fix: `write "${reference}" in quotes, without brackets where one value is asked for: ${reference}`,
    },
  ];
};

const indent: Finder = (line, at, lines) => {
  const text = line.trimStart();
  if (text === '' || text.startsWith('#')) return [];
  const spaces = line.length - text.length;
  return indentsNear(at, lines)
    .filter((wanted) => wanted !== spaces)
    .map((wanted) => ({
      line: at,
      meant: ' '.repeat(wanted) + text,
      column: Math.min(spaces, wanted),
      length: Math.max(1, Math.abs(spaces - wanted)),
      message: `this line stands ${counted(Math.abs(spaces - wanted))} too ${spaces > wanted ? 'far' : 'near'}`,
      fix: `indent it by ${counted(wanted)}`,
    }));
};

/** The indents that a line may have had: those of the lines around it, and the next one deeper; the nearest to its own first. */
function indentsNear(at: number, lines: readonly string[]): readonly number[] {
  const own = indentOf(lines[at] ?? '');
  const indents = new Set<number>();
  for (const line of [...around(at, lines, -1), ...around(at, lines, 1)]) {
    const spaces = indentOf(line);
    indents.add(spaces);
    if (/^\s*- /.test(line)) indents.add(spaces + 2);
    if (/:\s*(?:#.*)?$/.test(line)) indents.add(spaces + (/^\s*- /.test(line) ? 4 : 2));
  }
  return [...indents].sort((a, b) => Math.abs(a - own) - Math.abs(b - own) || a - b);
}

/** The lines with text next to one, up to four on a side. */
function around(at: number, lines: readonly string[], step: 1 | -1): readonly string[] {
  const found: string[] = [];
  for (let line = at + step; line >= 0 && line < lines.length && found.length < 4; line += step) {
    const text = lines[line] ?? '';
    if (!/^\s*(?:#.*)?$/.test(text)) found.push(text);
  }
  return found;
}

function indentOf(line: string): number {
  return /^ */.exec(line.replaceAll('\t', '  '))?.[0].length ?? 0;
}

function counted(spaces: number): string {
  return `${spaces} space${spaces === 1 ? '' : 's'}`;
}

/** In the order in which they are tried: the surest signs first. */
const kinds: readonly Kind[] = [
  { find: tab, reach: Infinity },
  { find: dash, reach: 8, mayParse: true },
  { find: quote, reach: Infinity },
  { find: bracket, reach: Infinity },
  { find: colon, reach: 4, mayParse: true },
  { find: indicator, reach: 1 },
  { find: referenceInBrackets, reach: 1 },
  { find: indent, reach: 2 },
  { find: nested, reach: 2 },
];

/** Every slip that may be the cause of a symptom, the likeliest first, and of a kind the nearest first. */
export function* slipsBefore({ line, parses }: Symptom, lines: readonly string[]): Generator<Slip> {
  for (const { find, reach, mayParse } of kinds) {
    if (parses && mayParse !== true) continue;
    const last = Math.min(lines.length - 1, line + 1);
    for (let at = last; at >= 0 && at >= line - reach; at -= 1) yield* find(lines[at] ?? '', at, lines);
  }
}
