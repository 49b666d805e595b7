/** Mistakes in options: their names, positions and values. */
import type { OptionDefinition } from '../../../core/kernel/options/index.js';
import { withLine } from '../bases.js';
import { kebab, misspelt, quoted, some, type Fault, type Spoiler } from '../change.js';
import type { KeyLine, PipelineLines } from '../pipeline-lines.js';
import type { Random } from '../../watch/random.js';

type Given = KeyLine & { readonly option: OptionDefinition };

/** Renames an option in the file; the fix is the correct name. */
function renamed(rename: (given: Given, random: Random) => string | undefined): Spoiler {
  return (file, random) => {
    const given = some(file.options, random);
    const name = given === undefined ? undefined : rename(given, random);
    if (given === undefined || name === undefined || name === given.key) return undefined;
    return {
      text: file.replace(given.line, (before) => before.replace(`${given.key}:`, `${name}:`)),
      lines: [given.line],
      fix: quoted(given.key),
    };
  };
}

/** Changes the value of an option in the file. */
function valued(
  choose: (option: OptionDefinition) => boolean,
  value: (given: Given, random: Random) => string | undefined,
  fix?: (given: Given, value: string) => RegExp | undefined,
): Spoiler {
  return (file, random) => {
    const given = some(
      file.options.filter((each) => each.value !== '' && choose(each.option)),
      random,
    );
    const changed = given === undefined ? undefined : value(given, random);
    if (given === undefined || changed === undefined || changed === given.value) return undefined;
    const told = fix?.(given, changed);
    return {
      text: file.withValue(given, changed),
      lines: [given.line],
      ...(told === undefined ? {} : { fix: told }),
    };
  };
}

/** Adds an option to an owner; the finding is at its line. */
export function added(file: PipelineLines, owner: string, line: string, fix?: RegExp): Fault {
  const text = withLine(file, owner, line);
  const at = text.split('\n').findIndex((each, place) => each.trim() === line && file.lines[place] !== each);
  return { text, lines: [at], ...(fix === undefined ? {} : { fix }) };
}

const isNumber = ({ kind }: OptionDefinition): boolean => kind === 'integer' || kind === 'number';
const isFormat =
  (format: string) =>
  ({ schema }: OptionDefinition): boolean =>
    schema.format === format;

export const optionFaults: Readonly<Record<string, Spoiler>> = {
  'a misspelt option': renamed(({ key }, random) => misspelt(key, random)),
  'an option by its flag': renamed(({ option }) => option.flag ?? undefined),
  'an option with dashes': renamed(({ key }) => kebab(key)),
  'an option with underscores': renamed(({ key }) => kebab(key).replaceAll('-', '_')),
  'an option in small letters': renamed(({ key }) => key.toLowerCase()),
  'an option by its variable': renamed(({ option }) => option.env[0]),
  'an option of another plugin': (file, random) => {
    const given = some(
      file.options.filter(({ use, option }) => use !== undefined && option.flag !== undefined),
      random,
    );
    if (given === undefined) return undefined;
    const others = file.entries.filter(
      ({ use }) => use !== given.use && !file.optionsOf(use).some(({ key }) => key === given.key),
    );
    const other = some(others, random);
    if (other === undefined) return undefined;
    return added(file, other.use, `${given.key}: ${given.value}`, quoted(given.use ?? ''));
  },
  'an option of a section in a plugin': (file, random) => {
    const entry = some(file.entries, random);
    if (entry === undefined) return undefined;
    const free = file
      .optionsOf(random.pick(['server', 'names', 'limits']))
      .filter(({ key, isUnread, kind }) => !isUnread && kind === 'boolean' && !isIn(file, entry.use, key));
    const option = some(free, random);
    if (option === undefined) return undefined;
    return added(file, entry.use, `${option.key}: true`, quoted(`"${option.owner}"`));
  },
  'an option beside with': (file, random) => {
    const entry = some(file.entries, random);
    if (entry === undefined) return undefined;
    const option = some(
      file
        .optionsOf(entry.use)
        .filter(
          ({ kind, key, deprecated, isUnread }) =>
            kind === 'boolean' &&
            key !== 'enabled' &&
            deprecated === undefined &&
            !isUnread &&
            !isGiven(file, key),
        ),
      random,
    );
    if (option === undefined) return undefined;
    return {
      text: file.splice(entry.from + 1, 0, `    ${option.key}: true`),
      lines: [entry.from + 1],
      fix: /"with"/,
    };
  },
  'an option in the top level': (file, random) => {
    const given = some(
      file.options.filter(({ use }) => use === undefined),
      random,
    );
    if (given === undefined) return undefined;
    const version = file.keys.find(({ key }) => key === 'version');
    return {
      text: file.splice((version?.line ?? 0) + 1, 0, `${given.key}: ${given.value}`),
      lines: [(version?.line ?? 0) + 1],
      fix: quoted(`"${given.part}"`),
    };
  },
  'a number in quotes': valued(
    isNumber,
    ({ value }) => `"${value}"`,
    () => /without quotes/,
  ),
  'a word for a number': valued(isNumber, (_, random) => random.pick(['many', 'ten', 'null', '[5]', '{}'])),
  'a number with its unit': valued(
    isNumber,
    ({ value }, random) => `${value}${random.pick(['k', 'MB', 's', ' rows'])}`,
  ),
  'a number below its bound': valued(
    (option) => isNumber(option) && option.schema.minimum !== undefined,
    ({ option }) => String((option.schema.minimum ?? 0) - 1),
  ),
  'a broken number': valued(
    ({ kind }) => kind === 'integer',
    ({ value }) => `${value}.5`,
  ),
  'yes for true': valued(
    ({ kind }) => kind === 'boolean',
    (_, random) => random.pick(['yes', 'no', 'on', 'off', '"true"', '1', '0']),
    (_, value) => (/yes|on|true|1/.test(value) ? /\btrue\b/ : /\bfalse\b/),
  ),
  'a duration without unit': valued(
    isFormat('duration'),
    (_, random) => String(random.between(1, 90)),
    (_, value) => quoted(`${value}s`),
  ),
  'a duration that is none': valued(isFormat('duration'), (_, random) =>
    random.pick(['soon', '-5s', '1 fortnight', '5x', '""']),
  ),
  'a duration in words': valued(
    isFormat('duration'),
    (_, random) => random.pick(['5min', '30 s', '10sec', '2 hours', '5 minutes', '30S']),
    () => /write/,
  ),
  'a misspelt word of several': valued(
    ({ schema }) => schema.enum !== undefined && schema.enum.every((word) => String(word).length > 3),
    ({ value }, random) => misspelt(value, random),
    ({ value }) => quoted(value),
  ),
  'a word of several in capitals': valued(
    ({ schema }) => schema.enum !== undefined,
    ({ value }) => value.toUpperCase(),
    ({ value }) => quoted(value),
  ),
  'a list for one value': valued(
    ({ kind }) => kind !== 'json' && kind !== 'list',
    ({ value }) => `[${value}]`,
    ({ value }) => quoted(value.replace(/^['"]|['"]$/g, '')),
  ),
  'a mapping for one value': valued(
    ({ kind }) => kind !== 'json',
    ({ value }) => `{ value: ${value} }`,
  ),
  'an address without a scheme': valued(
    isFormat('http-url'),
    () => 'victorialogs:9428',
    () => /http:\/\/victorialogs:9428/,
  ),
  'an address that is none': valued(isFormat('http-url'), (_, random) =>
    random.pick(['http://', 'ftp://a:21', 'http//a:9428', 'htp://a:9428', 'http://a:99999', 'http://a b']),
  ),
  'a port without a colon': valued(
    isFormat('listen-address'),
    (_, random) => String(random.between(1024, 9999)),
    (_, value) => quoted(`:${value}`),
  ),
  'no address to listen on': valued(isFormat('listen-address'), (_, random) =>
    random.pick([
      "'a:b'",
      "':99999'",
      "'999.0.0.1:31'",
      "'1.2.3:80'",
      "'localhost'",
      "'http://localhost:3100'",
    ]),
  ),
  'an option with nothing behind it': valued(
    ({ kind, schema }) => kind !== 'json' && schema.format !== 'x',
    () => '',
    () => /take|remove|write/,
  ),
  'a bad pattern': (file, random) => {
    const value = random.pick(['"("', '"[a-"', '"(?<n"', '"a{2,1}"', '"*"', '"(?=a)"']);
    return file.entry('response-shape') === undefined
      ? undefined
      : added(file, 'response-shape', `derivedFields: [{ name: trace, matcherRegex: ${value} }]`);
  },
};

function isGiven(file: PipelineLines, key: string): boolean {
  return file.options.some((given) => given.key === key);
}

function isIn(file: PipelineLines, owner: string, key: string): boolean {
  return file.optionsOf(owner).some((option) => option.key === key);
}
