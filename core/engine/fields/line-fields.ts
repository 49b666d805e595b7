import type { FieldParser } from '../../wire/answer/discovery-types.js';
import { LabelSet } from '../../base/labels/label-set.js';
import { parseQuery, type Stage } from '../../logql/index.js';
import {
  keyPathsEvaluator,
  pipelineEvaluator,
  type LineEvaluator,
  type LinePlace,
} from '../../logql/lines/evaluator.js';
import { jsonError } from '../../logql/pipeline/json-value.js';
import type { KeyPath, PathsByLabel } from '../../logql/pipeline/key-table.js';
import { logfmtError } from '../../logql/stages/logfmt.js';
import { errorLabel, type PipelineEntry, type PipelineLine } from '../../logql/pipeline/types.js';

/** Fields that a parser finds in a line. */
export interface LineFields {
  readonly parser: FieldParser;
  readonly labels: LabelSet;
  /** Parses the line again, once, to find the paths of its values; empty for logfmt. */
  readonly readPaths: () => Promise<LinePaths>;
}

/** The path of a label's value in the JSON line. */
export type LinePaths = (label: string) => KeyPath | undefined;

/** Parses lines like `| json`, and if that fails like `| logfmt`; expensive lines are evaluated in `place`. */
export class LineFieldReader {
  readonly #json: LineEvaluator<PipelineLine | undefined>;
  readonly #logfmt: LineEvaluator<PipelineLine | undefined>;
  readonly #paths: LineEvaluator<PathsByLabel>;

  constructor(place: LinePlace) {
    this.#json = pipelineEvaluator(stagesOf('json'), place);
    this.#logfmt = pipelineEvaluator(stagesOf('logfmt'), place);
    this.#paths = keyPathsEvaluator(place);
  }

  /** The fields of a line of this stream, with names that the stream has marked as such; undefined when no parser can read the line. */
  async read(line: string, stream: LabelSet): Promise<LineFields | undefined> {
    const entry = { stream, structuredMetadata: LabelSet.empty, timestampNs: 0n, line };
    const json = await this.#json.of(entry);
    if (json !== undefined && json.parsed.get(errorLabel) !== jsonError)
      return { parser: 'json', labels: json.parsed, readPaths: once(() => this.#readPaths(entry)) };
    const logfmt = await this.#logfmt.of(entry);
    if (logfmt === undefined || logfmt.parsed.get(errorLabel) === logfmtError) return undefined;
    return { parser: 'logfmt', labels: logfmt.parsed, readPaths: () => Promise.resolve(noPaths) };
  }

  async #readPaths(entry: PipelineEntry): Promise<LinePaths> {
    const paths = await this.#paths.of(entry);
    return (label) => paths.get(label);
  }
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return () => (value ??= read());
}

/** For a line without paths, or whose paths are not needed. */
export const noPaths: LinePaths = () => undefined;

function stagesOf(parser: FieldParser): readonly Stage[] {
  const query = parseQuery(`{stream="any"} | ${parser}`, { dottedNames: 'reject' });
  return query.kind === 'log' ? query.stages : [];
}
