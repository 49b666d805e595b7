import type { FieldParser } from '../answer/discovery-types.js';
import { LabelSet } from '../labels/label-set.js';
import { parseQuery, type Stage } from '../logql/index.js';
import { compilePipeline, type Pipeline } from '../logql/pipeline/compile.js';
import { jsonError } from '../logql/pipeline/json-stage.js';
import { logfmtError } from '../logql/pipeline/logfmt-stage.js';
import { clashSuffix, errorLabel } from '../logql/pipeline/types.js';
import { jsonPathsOf, type KeyPath } from './json-paths.js';

/** What a parser finds in a line. */
export interface LineFields {
  readonly parser: FieldParser;
  readonly labels: LabelSet;
  /** Where a label's value stands in the JSON line; undefined for logfmt. */
  readonly pathOf: (label: string) => KeyPath | undefined;
}

/** Reads lines as `| json` does, and where that fails as `| logfmt` does. */
export class LineFieldReader {
  readonly #json: Pipeline = compilePipeline(stagesOf('json'));
  readonly #logfmt: Pipeline = compilePipeline(stagesOf('logfmt'));

  /** The fields of a line of this stream: names that the stream has are marked; undefined when no parser reads the line. */
  read(line: string, stream: LabelSet): LineFields | undefined {
    const entry = { stream, structuredMetadata: LabelSet.empty, timestampNs: 0n, line };
    const json = this.#json(entry);
    if (json !== undefined && json.parsed.get(errorLabel) !== jsonError)
      return { parser: 'json', labels: json.parsed, pathOf: pathReader(line) };
    const logfmt = this.#logfmt(entry);
    if (logfmt === undefined || logfmt.parsed.get(errorLabel) === logfmtError) return undefined;
    return { parser: 'logfmt', labels: logfmt.parsed, pathOf: () => undefined };
  }
}

/** Reads the line again for the paths, but only when somebody asks. */
function pathReader(line: string): (label: string) => KeyPath | undefined {
  let paths: ReadonlyMap<string, KeyPath> | undefined;
  return (label) => {
    paths ??= jsonPathsOf(line);
    const plain = label.endsWith(clashSuffix) ? label.slice(0, -clashSuffix.length) : label;
    return paths.get(label) ?? paths.get(plain);
  };
}

function stagesOf(parser: FieldParser): readonly Stage[] {
  const query = parseQuery(`{stream="any"} | ${parser}`, { dottedNames: 'reject' });
  return query.kind === 'log' ? query.stages : [];
}
