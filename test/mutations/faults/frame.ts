/** Mistakes in the frame of the file: sections, lists, entries. */
import { misspelt, quoted, some, type Spoiler } from '../change.js';
import { lists } from '../pipeline-lines.js';

export const frameFaults: Readonly<Record<string, Spoiler>> = {
  'a misspelt key of the top level': (file, random) => {
    const key = some(
      file.keys.filter(({ indent }) => indent === 0),
      random,
    );
    if (key === undefined) return undefined;
    const wrong = misspelt(key.key, random);
    return {
      text: file.replace(key.line, (before) => before.replace(key.key, wrong)),
      lines: [key.line],
      fix: quoted(key.key),
    };
  },
  'a misspelt key of an entry': (file, random) => {
    const key = some(
      file.keys.filter(({ part, indent }) => lists.includes(part) && (indent === 2 || indent === 4)),
      random,
    );
    if (key === undefined) return undefined;
    const wrong = misspelt(key.key, random);
    return {
      text: file.replace(key.line, (before) => before.replace(`${key.key}:`, `${wrong}:`)),
      lines: [key.line],
      fix: quoted(key.key),
    };
  },
  'a key in capitals': (file, random) => {
    const key = some(
      file.keys.filter(({ option }) => option === undefined),
      random,
    );
    if (key === undefined) return undefined;
    const wrong = key.key.charAt(0).toUpperCase() + key.key.slice(1);
    return {
      text: file.replace(key.line, (before) => before.replace(`${key.key}:`, `${wrong}:`)),
      lines: [key.line],
      fix: quoted(key.key),
    };
  },
  'no version': (file) => {
    const key = file.keys.find(({ key: name }) => name === 'version');
    return key === undefined
      ? undefined
      : { text: file.splice(key.line, 1), lines: [0, ...aroundFirstKey(file.keys)], fix: /version: 1/ };
  },
  'another version': (file, random) => {
    const key = file.keys.find(({ key: name }) => name === 'version');
    if (key === undefined) return undefined;
    const value = random.pick(['2', '"1"', '1.5', 'one', 'v1']);
    return { text: file.withValue(key, value), lines: [key.line], fix: /\b1\b/ };
  },
  'an item that is a word': (file, random) => {
    const entry = some(
      file.entries.filter(({ from, to }) => to === from + 1),
      random,
    );
    if (entry === undefined) return undefined;
    return {
      text: file.replace(entry.from, (before) => before.replace('use: ', '')),
      lines: [entry.from],
      fix: quoted(`use: ${entry.use}`),
    };
  },
  'an empty item': (file, random) => {
    const entry = some(file.entries, random);
    return entry === undefined
      ? undefined
      : { text: file.splice(entry.to, 0, '  -'), lines: [entry.to], fix: /use|remove/ };
  },
  'an item without use': (file, random) => {
    const entry = some(
      file.entries.filter(({ from, to }) => to > from + 1),
      random,
    );
    if (entry === undefined) return undefined;
    return { text: file.replace(entry.from, () => '  - id: someone'), lines: [entry.from], fix: /use/ };
  },
  'use without a name': (file, random) => {
    const entry = some(file.entries, random);
    if (entry === undefined) return undefined;
    return {
      text: file.replace(entry.from, (before) => before.replace(/use: .*/, 'use:')),
      lines: [entry.from],
      fix: /plugin/,
    };
  },
  'a list that is a mapping': (file, random) => {
    const list = some(
      file.keys.filter(({ key, indent }) => indent === 0 && lists.includes(key)),
      random,
    );
    if (list === undefined) return undefined;
    const inside = file.entries.filter((entry) => entry.list === list.key);
    const lines = file.lines.map((line, at) =>
      inside.some(({ from }) => from === at) ? line.replace('- use: ', '').replace(/^( *\S+)/, '$1:') : line,
    );
    if (inside.some(({ from, to }) => to > from + 1)) return undefined;
    return { text: `${lines.join('\n')}\n`, lines: [list.line, list.line + 1], fix: /- use/ };
  },
  'a section that is a list': (file, random) => {
    const section = some(
      file.keys.filter(({ key, indent }) => indent === 0 && file.schemas.has(key)),
      random,
    );
    if (section === undefined) return undefined;
    const lines = file.lines.map((line, at) =>
      file.keys.some((key) => key.part === section.key && key.indent === 2 && key.line === at)
        ? line.replace(/^ {2}/, '  - ')
        : line,
    );
    return { text: `${lines.join('\n')}\n`, lines: [section.line, section.line + 1], fix: /dash|mapping/ };
  },
  'enabled is a word': (file, random) => {
    const entry = some(file.entries, random);
    const value = random.pick(['no', 'off', '"false"', '0']);
    return entry === undefined
      ? undefined
      : {
          text: file.splice(entry.from + 1, 0, `    enabled: ${value}`),
          lines: [entry.from + 1],
          fix: /false/,
        };
  },
  'an id with spaces': (file, random) => {
    const entry = some(file.entries, random);
    return entry === undefined
      ? undefined
      : { text: file.splice(entry.from + 1, 0, '    id: my plugin'), lines: [entry.from + 1] };
  },
  'a list left out': (file, random) => {
    const name = random.pick(['stages', 'endpoints']);
    const list = file.keys.find(({ key, indent }) => indent === 0 && key === name);
    const inside = file.entries.filter((entry) => entry.list === name);
    const last = inside.at(-1);
    if (list === undefined || last === undefined) return undefined;
    return {
      text: file.splice(list.line, last.to - list.line),
      lines: [0, ...aroundFirstKey(file.keys)],
      fix: quoted(name),
    };
  },
  'a list that is empty': (file, random) => {
    const name = random.pick(['stages', 'endpoints']);
    const list = file.keys.find(({ key, indent }) => indent === 0 && key === name);
    const last = file.entries.filter((entry) => entry.list === name).at(-1);
    if (list === undefined || last === undefined) return undefined;
    const text = file.splice(list.line, last.to - list.line, random.pick([`${name}:`, `${name}: []`]));
    return { text, lines: [list.line], fix: /minimal|reference-api/ };
  },
};

/** A finding about a missing part may be at the beginning of the file, at a comment or at the first key. */
function aroundFirstKey(keys: readonly { readonly line: number }[]): readonly number[] {
  const first = keys[0]?.line ?? 0;
  return Array.from({ length: 4 }, (_, more) => first + more);
}
