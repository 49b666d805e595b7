/** Changes without effect: none may cause a finding. */
import { otherValue, withLine } from './bases.js';
import { some, type Shuffler } from './change.js';
import { lists, textOf } from './pipeline-lines.js';

const optional = /^(?:guard|tier0|kept-patterns|label-index|window-split|cold-route|peer-cache|drilldown)$/;

export const harmless: Readonly<Record<string, Shuffler>> = {
  'a comment more': (file, random) =>
    file.splice(random.below(file.lines.length), 0, `${' '.repeat(random.below(8))}# use: [nothing`),
  'a comment behind a line': (file, random) => {
    const key = some(
      file.keys.filter(({ line }) => file.lines[line]?.includes('#') === false),
      random,
    );
    return key === undefined ? undefined : file.replace(key.line, (before) => `${before} # "tab:\t`);
  },
  'empty lines': (file, random) =>
    file.splice(random.below(file.lines.length), 0, '', random.pick(['', '   '])),
  'spaces at the ends': (file, random) =>
    textOf(file.lines.map((line) => (random.chance(0.3) ? `${line}  ` : line))),
  'lines ended as in Windows': (file) => `${file.lines.join('\r\n')}\r\n`,
  'no line break at the end': (file) => file.lines.join('\n'),
  'a mark of the byte order': (file) => `\ufeff${textOf(file.lines)}`,
  'a document with its marks': (file) => textOf(['---', ...file.lines, '...']),
  'no comments': (file) => textOf(file.lines.map((line) => line.replace(/(^| +)#.*$/, ''))),
  'a text in quotes': (file, random) => {
    const key = some(
      file.keys.filter(
        ({ value, option, key: name }) =>
          (option?.kind === 'string' || option?.kind === 'duration' || name === 'use') &&
          /^[^'"{[$]+$/.test(value),
      ),
      random,
    );
    if (key === undefined || key.value === '') return undefined;
    return file.withValue(key, random.pick([`"${key.value}"`, `'${key.value}'`]));
  },
  'entries in braces': (file, random) => {
    const entry = some(
      file.entries.filter(({ from, to }) => to === from + 1),
      random,
    );
    return entry === undefined
      ? undefined
      : file.replace(entry.from, () => `  - ${random.pick(['{ use: ', '{use: ', '{"use": '])}${entry.use} }`);
  },
  'the lists at another depth': (file) =>
    textOf(
      file.lines.map((line, at) => {
        const key = file.keys.findLast((each) => each.line <= at && each.indent === 0);
        return key !== undefined && lists.includes(key.key) && key.line !== at
          ? line.replace(/^ {2}/, '')
          : line;
      }),
    ),
  'options at another depth': (file) =>
    textOf(file.lines.map((line) => line.replace(/^ {6}(?=\S)/, '        '))),
  'an entry that is enabled': (file, random) => {
    const entry = some(file.entries, random);
    return entry === undefined ? undefined : file.splice(entry.from + 1, 0, '    enabled: true');
  },
  'an entry with a name': (file, random) => {
    const entry = some(file.entries, random);
    return entry === undefined ? undefined : file.splice(entry.from + 1, 0, '    id: my.own-1');
  },
  'an optional stage left out': (file, random) => {
    const entry = some(
      file.entries.filter(({ use }) => optional.test(use)),
      random,
    );
    return entry === undefined ? undefined : file.splice(entry.from, entry.to - entry.from);
  },
  'an optional stage turned off': (file, random) => {
    const entry = some(
      file.entries.filter(({ use }) => optional.test(use)),
      random,
    );
    return entry === undefined ? undefined : file.splice(entry.from + 1, 0, '    enabled: false');
  },
  'an endpoint plugin left out': (file, random) => {
    const entry = some(
      file.entries.filter(({ list, use }) => list === 'endpoints' && use !== 'reference-api'),
      random,
    );
    return entry === undefined ? undefined : file.splice(entry.from, entry.to - entry.from);
  },
  'endpoints in another order': (file, random) => {
    const single = file.entries.filter(({ list, from, to }) => list === 'endpoints' && to === from + 1);
    const [a, b] = [some(single, random), some(single, random)];
    if (a === undefined || b === undefined || a === b) return undefined;
    const lines = [...file.lines];
    [lines[a.from], lines[b.from]] = [lines[b.from] ?? '', lines[a.from] ?? ''];
    return textOf(lines);
  },
  'stages that do not depend on each other swapped': (file) => {
    const [a, b] = [file.entry('kept-patterns'), file.entry('label-index')];
    if (a === undefined || b === undefined || a.to !== b.from) return undefined;
    return textOf([
      ...file.lines.slice(0, a.from),
      ...file.lines.slice(b.from, b.to),
      ...file.lines.slice(a.from, a.to),
      ...file.lines.slice(b.to),
    ]);
  },
  'the version at the end': (file) => {
    const key = file.keys.find(({ key: name }) => name === 'version');
    if (key === undefined) return undefined;
    return textOf([...file.lines.slice(0, key.line), ...file.lines.slice(key.line + 1), 'version: 1']);
  },
  'another value': (file, random) => {
    // Two of these contradict each other when changed alone.
    const free = file.options.filter(({ key }) => !/^(?:labelStyle|logqlDottedNames)$/.test(key));
    const given = some(free, random);
    const value = given === undefined ? undefined : otherValue(given.option, random);
    return given === undefined || value === undefined ? undefined : file.withValue(given, value);
  },
  'a default written out': (file, random) => {
    const owner = random.pick([
      ...file.entries.map(({ use }) => use),
      'server',
      'names',
      'limits',
      'telemetry',
    ]);
    const option = some(
      file
        .optionsOf(owner)
        .filter(
          ({ schema, deprecated, isUnread, key }) =>
            schema.default !== undefined &&
            deprecated === undefined &&
            !isUnread &&
            !file.options.some((given) => given.key === key),
        ),
      random,
    );
    return option === undefined
      ? undefined
      : withLine(file, owner, `${option.key}: ${JSON.stringify(option.schema.default)}`);
  },
  'a leader alone': (file, random) => {
    const sharers = file.entries
      .flatMap(({ use }) => file.optionsOf(use))
      .filter(({ shares }) => shares !== undefined);
    const sharer = some(sharers, random);
    const owner = file.entries.find(({ use }) =>
      file.optionsOf(use).some(({ flag }) => flag === sharer?.shares),
    );
    const leader = file.optionsOf(owner?.use ?? '').find(({ flag }) => flag === sharer?.shares);
    if (owner === undefined || leader === undefined) return undefined;
    if (file.options.some(({ key }) => key === leader.key)) return undefined;
    const value = leader.kind === 'list' ? '[X-Team]' : otherValue(leader, random);
    return value === undefined ? undefined : withLine(file, owner.use, `${leader.key}: ${value}`);
  },
  'a reference with a default': (file, random) => {
    const given = some(
      file.options.filter(({ value }) => /^\w+$/.test(value)),
      random,
    );
    return given === undefined ? undefined : file.withValue(given, `\${NOT_SET_ANYWHERE:-${given.value}}`);
  },
  'an alias': (file, random) => {
    const durations = file.options.filter(
      ({ option, value }) => option.kind === 'duration' && /^\w+$/.test(value),
    );
    const [first, second] = [durations[0], durations.at(-1)];
    if (first === undefined || second === undefined || first === second) return undefined;
    const lines = [...file.lines];
    lines[first.line] = lines[first.line]?.replace(`: ${first.value}`, `: &again ${first.value}`) ?? '';
    lines[second.line] = lines[second.line]?.replace(`: ${second.value}`, ': *again') ?? '';
    return random.chance(1) ? textOf(lines) : undefined;
  },
  'an empty section': (file, random) => {
    const name = random.pick(
      ['limits', 'telemetry', 'names']
        .filter((each) => !file.keys.some(({ key }) => key === each))
        .concat('x'),
    );
    return name === 'x' ? undefined : textOf([...file.lines, `${name}:${random.pick(['', ' {}', ' null'])}`]);
  },
  'empty options': (file, random) => {
    const entry = some(
      file.entries.filter(({ from, to }) => to === from + 1),
      random,
    );
    return entry === undefined
      ? undefined
      : file.splice(entry.from + 1, 0, `    with:${random.pick(['', ' {}'])}`);
  },
};
