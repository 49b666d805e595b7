import { type Matcher, RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { parseRegExp, renameGroups } from './parse.js';
import { type CompileOptions, type LinearMatch, RegExpSyntaxError } from './types.js';

export type GroupNames = readonly (readonly [name: string, group: number])[];

/** Finds matches with the RE2 automaton. It supports every pattern, and the faster engines are tested against it. */
export class Re2Engine {
  readonly groupCount: number;
  readonly names: GroupNames;
  readonly #anchored: boolean;
  readonly #compiled: RE2JS;

  constructor(pattern: string, options: CompileOptions) {
    this.#anchored = options.anchored === true;
    // Compiled without flags first: a flag prefix would appear in the error text.
    const { compiled, names, source } = compileNamed(pattern);
    this.#compiled =
      options.dotAll === true && source.includes('.') ? compile(source, RE2JS.DOTALL) : compiled;
    this.groupCount = compiled.groupCount();
    this.names = names;
  }

  test(text: string): boolean {
    return this.#anchored ? this.#compiled.testExact(text) : this.#compiled.test(text);
  }

  /** Instructions of the automaton. */
  get size(): number {
    return this.#compiled.programSize();
  }

  /** Returns a finder of matches in one text. */
  finder(text: string): FindFrom {
    const matcher = this.#compiled.matcher(text);
    return (from) => {
      if (this.#anchored) return from === 0 && matcher.matches() ? this.#match(matcher) : undefined;
      return matcher.find(from) ? this.#match(matcher) : undefined;
    };
  }

  #match(matcher: Matcher): LinearMatch {
    const groups: (string | undefined)[] = [];
    for (let i = 0; i <= this.groupCount; i++) groups.push(matcher.group(i) ?? undefined);
    return { index: matcher.start(), end: matcher.end(), groups, named: namedGroups(this.names, groups) };
  }
}

/** The texts of the named groups that matched; of several groups with one name, the first. */
export function namedGroups(names: GroupNames, groups: LinearMatch['groups']): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const [name, group] of names) {
    const text = groups[group];
    if (text !== undefined && !named.has(name)) named.set(name, text);
  }
  return named;
}

function compileNamed(pattern: string): { compiled: RE2JS; names: GroupNames; source: string } {
  try {
    const compiled = compile(pattern, 0);
    const names = Object.entries(compiled.namedGroups()).sort((a, b) => a[1] - b[1]);
    return { compiled, names, source: pattern };
  } catch (error) {
    const isRepeated =
      error instanceof RegExpSyntaxError && error.message.includes('duplicate capture group name');
    if (!isRepeated) throw error;
    const unnamed = removeGroupNames(pattern);
    return { compiled: compile(unnamed.pattern, 0), names: unnamed.names, source: unnamed.pattern };
  }
}

function compile(pattern: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw new RegExpSyntaxError(faultText(error, pattern));
    if (error instanceof RE2JSException) throw new RegExpSyntaxError(error.message);
    throw error;
  }
}

/** Go's errors always name a part of the pattern: the whole pattern where RE2JS names none, and an empty one for a trailing backslash. */
function faultText(error: RE2JSSyntaxException, pattern: string): string {
  const description = error.getDescription();
  const part = description.startsWith('trailing backslash') ? '' : (error.getPattern() ?? pattern);
  return `error parsing regexp: ${description}: \`${part}\``;
}

/** A pattern without the names of its groups: in Go several groups may share a name, in RE2JS they may not. */
function removeGroupNames(pattern: string): { readonly pattern: string; readonly names: GroupNames } {
  const names = parseRegExp(pattern).named.map(({ name, group }) => [name, group] as const);
  return { pattern: renameGroups(pattern, () => ''), names };
}

const nameCharacter = /^[\p{L}\p{Nd}_]+/u;

/** Expands `$1`, `$name`, `${name}` and `$$` for a match; a group that is missing or did not match becomes empty. */
export function expandTemplate(template: string, match: LinearMatch): string {
  let out = '';
  let rest = template;
  for (;;) {
    const at = rest.indexOf('$');
    if (at < 0) return out + rest;
    out += rest.slice(0, at);
    rest = rest.slice(at + 1);
    if (rest.startsWith('$')) {
      out += '$';
      rest = rest.slice(1);
      continue;
    }
    const reference = readReference(rest);
    if (reference === undefined) {
      out += '$';
      continue;
    }
    rest = rest.slice(reference.length);
    out += groupText(reference.name, match);
  }
}

function readReference(text: string): { name: string; length: number } | undefined {
  const braced = text.startsWith('{');
  const name = nameCharacter.exec(braced ? text.slice(1) : text)?.[0];
  if (name === undefined) return undefined;
  if (!braced) return { name, length: name.length };
  return text[name.length + 1] === '}' ? { name, length: name.length + 2 } : undefined;
}

function groupText(name: string, match: LinearMatch): string {
  // A name of digits is a number unless it has a leading zero (Go treats "01" as a name).
  if (/^(?:0|[1-9][0-9]{0,8})$/.test(name)) return match.groups[Number(name)] ?? '';
  return match.named.get(name) ?? '';
}

/** Finds the leftmost match at or after an offset of one text. */
export type FindFrom = (from: number) => LinearMatch | undefined;

/** Replaces matches from left to right; an empty match adjacent to the previous match is skipped (Go's rule). */
export function replaceAllWith(
  text: string,
  find: FindFrom,
  replace: (match: LinearMatch) => string,
): string {
  let out = '';
  let lastEnd = 0;
  let from = 0;
  while (from <= text.length) {
    const match = find(from);
    if (match === undefined) break;
    out += text.slice(lastEnd, match.index);
    if (match.end > lastEnd || match.index === 0) out += replace(match);
    lastEnd = match.end;
    const width = (text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1;
    from = from + width > match.end ? from + width : match.end;
  }
  return out + text.slice(lastEnd);
}
