import type { StreamResult } from '../../wire/answer/types.js';
import type { Label, LabelSet } from '../../base/label-set.js';
import type { ResponseShapeOptions } from '../../base/options.gen.js';
import { compileRegExp } from '../../logql/regexp/index.js';

/** Adds derived fields to the entries of streams. */
export type DeriveFields = (streams: readonly StreamResult[]) => readonly StreamResult[];

/**
 * Compiles `derivedFields`: the first group of a match, or the whole match, becomes a parsed label of the entry unless a label has that
 * name. Undefined if there are none.
 * @throws Error naming the field whose pattern is not RE2 syntax
 */
export function compileDerivedFields(
  fields: ResponseShapeOptions['derivedFields'],
): DeriveFields | undefined {
  if (fields.length === 0) return undefined;
  const patterns = fields.map(({ name, matcherRegex }) => ({ name, pattern: compile(name, matcherRegex) }));
  return (streams) =>
    streams.map(({ labels, entries }) => ({
      labels,
      entries: entries.map((entry) => {
        const sets = [labels, entry.structuredMetadata, entry.parsed];
        const found: Label[] = [];
        for (const { name, pattern } of patterns) {
          if (sets.some((set: LabelSet) => set.has(name))) continue;
          const match = pattern.exec(entry.line);
          const value = match === undefined ? undefined : (match.groups[1] ?? match.groups[0]);
          if (value !== undefined && value !== '') found.push([name, value]);
        }
        return found.length === 0 ? entry : { ...entry, parsed: entry.parsed.with(found) };
      }),
    }));
}

function compile(name: string, pattern: string): ReturnType<typeof compileRegExp> {
  try {
    return compileRegExp(pattern);
  } catch (error) {
    throw new Error(
      `derivedFields: the matcherRegex of ${name} is invalid: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
