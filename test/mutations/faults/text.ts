/** YAML syntax mistakes. */
import { some, type Fault, type Spoiler } from '../change.js';
import type { KeyLine, PipelineLines } from '../pipeline-lines.js';
import type { Random } from '../../watch/random.js';

const indented = (file: PipelineLines): readonly KeyLine[] => file.keys.filter(({ indent }) => indent > 0);
const valued = (file: PipelineLines): readonly KeyLine[] => file.keys.filter(({ value }) => value !== '');
const plain = (file: PipelineLines): readonly KeyLine[] =>
  valued(file).filter(({ value }) => /^[\w./:-]+$/.test(value));

/** A change of one line, reported on that line. */
function onLine(
  choose: (file: PipelineLines) => readonly KeyLine[],
  change: (before: string, key: KeyLine, random: Random) => string,
  fix?: (key: KeyLine) => RegExp,
): Spoiler {
  return (file, random): Fault | undefined => {
    const key = some(choose(file), random);
    if (key === undefined) return undefined;
    const told = fix?.(key);
    return {
      text: file.replace(key.line, (before) => change(before, key, random)),
      lines: [key.line],
      ...(told === undefined ? {} : { fix: told }),
    };
  };
}

export const textFaults: Readonly<Record<string, Spoiler>> = {
  'a tab for the indent': onLine(
    indented,
    (before) => before.replace(/^ +/, '\t'),
    () => /space/,
  ),
  'a tab within the indent': onLine(
    indented,
    (before) => before.replace(/^ {2}/, ' \t'),
    () => /space/,
  ),
  'a key one space too far': onLine(
    (file) => file.keys.filter(({ isItem, indent, line }) => !isItem && indent > 0 && !isFirst(file, line)),
    (before) => ` ${before}`,
    () => /space/,
  ),
  'a key one space too near': onLine(
    (file) => file.keys.filter(({ isItem, indent, line }) => !isItem && indent > 0 && !isFirst(file, line)),
    (before) => before.slice(1),
    () => /space/,
  ),
  'an item one space too far': onLine(
    (file) => file.keys.filter(({ isItem, line }) => isItem && !isFirst(file, line)),
    (before) => ` ${before}`,
    () => /space/,
  ),
  'an item one space too near': onLine(
    (file) => file.keys.filter(({ isItem, line }) => isItem && !isFirst(file, line)),
    (before) => before.slice(1),
    () => /space/,
  ),
  'no colon': onLine(
    valued,
    (before, { key }) => before.replace(`${key}:`, key),
    () => /colon/,
  ),
  'no space behind the colon': onLine(
    plain,
    (before, { key }) => before.replace(`${key}: `, `${key}:`),
    () => /colon/,
  ),
  'an equals sign for the colon': onLine(
    plain,
    (before, { key }) => before.replace(`${key}: `, `${key} = `),
    () => /colon/,
  ),
  'no space behind the dash': onLine(
    (file) => file.keys.filter(({ isItem }) => isItem),
    (before) => before.replace('- ', '-'),
    () => /- use|space/,
  ),
  'a quote that is not closed': onLine(
    plain,
    (before, { key, value }, random) => {
      const quote = random.pick(['"', "'"]);
      return before.replace(`${key}: ${value}`, `${key}: ${quote}${value}`);
    },
    () => /close/,
  ),
  'a quote that is not opened': onLine(
    (file) => valued(file).filter(({ value }) => /^['"].*['"]$/.test(value)),
    (before, { key, value }) => before.replace(`${key}: ${value}`, `${key}: ${value.slice(1)}`),
  ),
  'a bracket that is not closed': onLine(
    plain,
    (before, { key, value }) => before.replace(`${key}: ${value}`, `${key}: [${value}`),
    () => /close/,
  ),
  'a brace that is not closed': onLine(
    (file) =>
      file.keys.filter(({ line }) => file.entries.some(({ from, to }) => from === line && to === from + 1)),
    (before) => before.replace(/- use: ([^ ]+)/, '- { use: $1'),
    () => /close/,
  ),
  'a bracket that is not opened': onLine(plain, (before, { key, value }) =>
    before.replace(`${key}: ${value}`, `${key}: ${value}]`),
  ),
  'a bracket closed by a brace': onLine(plain, (before, { key, value }) =>
    before.replace(`${key}: ${value}`, `${key}: [${value}}`),
  ),
  'a line twice': (file, random) => {
    const key = some(
      file.keys.filter(({ value, isItem }) => value !== '' && !isItem),
      random,
    );
    if (key === undefined) return undefined;
    const line = file.lines[key.line] ?? '';
    return { text: file.splice(key.line, 0, line), lines: [key.line, key.line + 1], fix: /remove/ };
  },
  'a second document': (file, random) => {
    const key = some(
      file.keys.filter(({ indent, line }) => indent === 0 && line > (file.keys[0]?.line ?? 0)),
      random,
    );
    if (key === undefined) return undefined;
    return { text: file.splice(key.line, 0, '---'), lines: [key.line, key.line + 1], fix: /---|own/ };
  },
  'a tag': onLine(plain, (before, { key, value }) =>
    before.replace(`${key}: ${value}`, `${key}: !text ${value}`),
  ),
  'an alias to nowhere': onLine(plain, (before, { key, value }) =>
    before.replace(`${key}: ${value}`, `${key}: *nobody`),
  ),
  'a merge key': (file, random) => {
    const key = some(
      file.options.filter(({ indent }) => indent > 0),
      random,
    );
    if (key === undefined) return undefined;
    const added = `${' '.repeat(key.indent)}<<: {}`;
    return { text: file.splice(key.line, 0, added), lines: [key.line], fix: /write/ };
  },
  'a value that begins with a percent sign or an at': onLine(plain, (before, { key, value }, random) =>
    before.replace(`${key}: ${value}`, `${key}: ${random.pick(['@', '`', '%'])}${value}`),
  ),
  'a reference within a value': onLine(
    plain,
    (before, { key, value }) => before.replace(`${key}: ${value}`, `${key}: ${value}-\${NAME}`),
    () => /whole/,
  ),
  'a reference to nothing': onLine(
    plain,
    (before, { key, value }) => before.replace(`${key}: ${value}`, `${key}: \${NOT_SET_ANYWHERE}`),
    () => /NOT_SET_ANYWHERE/,
  ),
};

/** True if a line is the first inside its parent, so that its indentation determines that of the others. */
function isFirst(file: PipelineLines, line: number): boolean {
  const key = file.keys.find((each) => each.line === line);
  const index = file.keys.findIndex((each) => each.line === line);
  const before = file.keys[index - 1];
  if (key === undefined || before === undefined) return true;
  return before.indent + (before.isItem ? 2 : 0) < key.indent;
}
