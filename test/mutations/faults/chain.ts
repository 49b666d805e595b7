/** Mistakes in the entries of the lists and their order. */
import { misspelt, quoted, some, type Spoiler } from '../change.js';
import { textOf, type EntryLines, type PipelineLines } from '../pipeline-lines.js';

const needed = ['tenancy', 'translate', 'backend', 'response-shape'] as const;
const stages = (file: PipelineLines): readonly EntryLines[] =>
  file.entries.filter(({ list }) => list === 'stages');

/** The lines of an entry, and the file without them. */
function takenOut(
  file: PipelineLines,
  { from, to }: EntryLines,
): { readonly taken: readonly string[]; readonly rest: readonly string[] } {
  return { taken: file.lines.slice(from, to), rest: [...file.lines.slice(0, from), ...file.lines.slice(to)] };
}

export const chainFaults: Readonly<Record<string, Spoiler>> = {
  'a misspelt plugin': (file, random) => {
    const entry = some(
      file.entries.filter(({ use }) => use.length > 3),
      random,
    );
    if (entry === undefined) return undefined;
    const wrong = misspelt(entry.use, random);
    return {
      text: file.replace(entry.from, (before) => before.replace(entry.use, wrong)),
      lines: [entry.from],
      fix: quoted(`"${entry.use}"`),
    };
  },
  'a plugin in other letters': (file, random) => {
    const entry = some(file.entries, random);
    if (entry === undefined) return undefined;
    const wrong = random.pick([
      entry.use.charAt(0).toUpperCase() + entry.use.slice(1),
      entry.use.replaceAll('-', '_'),
      `${entry.use}.js`,
      entry.use.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    ]);
    if (wrong === entry.use) return undefined;
    return {
      text: file.replace(entry.from, (before) => before.replace(entry.use, wrong)),
      lines: [entry.from],
      fix: quoted(`"${entry.use}"`),
    };
  },
  'a plugin of another kind': (file, random) => {
    const entry = some(
      file.entries.filter(({ from, to }) => to === from + 1),
      random,
    );
    const other = random.pick(['stages', 'endpoints']);
    const list = file.keys.find(({ key, indent }) => indent === 0 && key === other);
    if (entry === undefined || list === undefined || entry.list === other) return undefined;
    if (needed.some((name) => name === entry.use)) return undefined;
    const { taken, rest } = takenOut(file, entry);
    const at = list.line + 1 - (entry.from < list.line ? 1 : 0);
    return {
      text: textOf([...rest.slice(0, at), ...taken, ...rest.slice(at)]),
      lines: [at],
      fix: quoted(`"${entry.list}"`),
    };
  },
  'a module that is not there': (file, random) => {
    const entry = some(file.entries, random);
    if (entry === undefined) return undefined;
    const path = random.pick(['./plugins/nowhere.js', '/nowhere/at/all.js', '../gone']);
    return { text: file.splice(entry.to, 0, `  - use: ${path}`), lines: [entry.to] };
  },
  'a plugin twice': (file, random) => {
    const entry = some(
      file.entries.filter(({ use }) => !needed.some((name) => name === use)),
      random,
    );
    if (entry === undefined) return undefined;
    return { text: file.splice(entry.to, 0, `  - use: ${entry.use}`), lines: [entry.to], fix: /"id"/ };
  },
  'an id twice': (file, random) => {
    const entry = some(file.entries.slice(1), random);
    const first = file.entries[0];
    if (entry === undefined || first === undefined) return undefined;
    return {
      text: file.splice(entry.from + 1, 0, `    id: ${first.use}`),
      lines: [entry.from + 1],
      fix: /another id/,
    };
  },
  'a stage that others need left out': (file, random) => {
    const name = random.pick(needed);
    const entry = file.entry(name);
    if (entry === undefined) return undefined;
    const { rest } = takenOut(file, entry);
    // Reported at the first stage that lacks it, at the list, or at the end.
    const lines = stages(file).map(({ from, to }) =>
      from > entry.from ? from - (entry.to - entry.from) : from + (to - to),
    );
    const list = file.keys.find(({ key, indent }) => indent === 0 && key === 'stages');
    return { text: textOf(rest), lines: [...lines, list?.line ?? 0], fix: quoted(name) };
  },
  'a stage that others need turned off': (file, random) => {
    const name = random.pick(needed);
    const entry = file.entry(name);
    if (entry === undefined) return undefined;
    const lines = stages(file).map(({ from }) => (from > entry.from ? from + 1 : from));
    return {
      text: file.splice(entry.from + 1, 0, '    enabled: false'),
      lines: [...lines, entry.from + 1],
      fix: quoted(`"${name}"`),
    };
  },
  'a stage too late': (file, random) => {
    const name = random.pick(['tenancy', 'translate', 'backend'] as const);
    const entry = file.entry(name);
    const last = stages(file).at(-1);
    if (entry === undefined || last === undefined) return undefined;
    const { taken, rest } = takenOut(file, entry);
    const at = last.to - (entry.to - entry.from);
    const lines = stages(file)
      .map(({ from }) => (from > entry.from ? from - (entry.to - entry.from) : from))
      .concat(at);
    return {
      text: textOf([...rest.slice(0, at), ...taken, ...rest.slice(at)]),
      lines,
      fix: /move/,
    };
  },
  'a stage too early': (file, random) => {
    const entry = some(
      stages(file).filter(({ use }) => !/^(?:tenancy|translate|cold-route)$/.test(use)),
      random,
    );
    const first = stages(file)[0];
    if (entry === undefined || first === undefined) return undefined;
    const { taken, rest } = takenOut(file, entry);
    return {
      text: textOf([...rest.slice(0, first.from), ...taken, ...rest.slice(first.from)]),
      lines: [first.from, first.from + taken.length],
      fix: /move/,
    };
  },
  'a stage behind the last': (file, random) => {
    const last = stages(file).at(-1);
    const entry = some(
      stages(file).filter(({ use }) => !needed.some((name) => name === use)),
      random,
    );
    if (entry === undefined || last === undefined) return undefined;
    const { taken, rest } = takenOut(file, entry);
    const at = last.to - taken.length;
    return {
      text: textOf([...rest.slice(0, at), ...taken, ...rest.slice(at)]),
      lines: [at],
      fix: /move/,
    };
  },
  'two stages that give the same': (file) => {
    const entry = file.entry('backend');
    if (entry === undefined) return undefined;
    return {
      text: file.splice(entry.to, 0, '  - use: backend', '    id: second'),
      lines: [entry.to, entry.to + 1],
      fix: /remove|disable/,
    };
  },
};
