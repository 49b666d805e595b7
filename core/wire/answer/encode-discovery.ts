import type { Steps } from '../../base/pace/steps.js';
import { addList, type BodyParts } from './body-parts.js';
import { encodeStats } from './encode-stats.js';
import { warningsText } from './encode-warnings.js';
import type { Warned } from './parts.js';
import { formatFloatPlain, formatSeconds } from '../../base/time/index.js';
import type {
  DetectedField,
  DetectedLabel,
  DiscoveryAnswer,
  PatternResult,
  ShardResult,
  VolumeAnswer,
} from './discovery-types.js';
import type { Point } from '../../logql/metric/types.js';

/**
 * Adds the body of a discovery answer in Loki's format (docs/protocol/answers.md#bodies-by-endpoint, docs/protocol/answers.md#patterns).
 */
export function* addDiscovery(body: BodyParts, answer: DiscoveryAnswer): Steps<void> {
  switch (answer.kind) {
    case 'volume':
      yield* addVolume(body, answer);
      return;
    case 'detected-fields':
      // Loki omits empty members, here and in the next two.
      if (answer.fields.length === 0) {
        addEmpty(body, answer);
        return;
      }
      body.push('{"fields":');
      yield* addList(body, answer.fields, fieldText);
      body.push(`,"limit":${answer.limit}${warningsText(answer)}}`);
      return;
    case 'detected-field-values':
      if (answer.values.length === 0) {
        addEmpty(body, answer);
        return;
      }
      body.push(`{"limit":${answer.limit},"values":`);
      yield* addList(body, answer.values, (value) => JSON.stringify(value));
      body.push(`${warningsText(answer)}}`);
      return;
    case 'detected-labels':
      if (answer.labels.length === 0) {
        addEmpty(body, answer);
        return;
      }
      body.push('{"detectedLabels":');
      yield* addList(body, answer.labels, labelText);
      body.push(`${warningsText(answer)}}`);
      return;
    case 'patterns':
      body.push('{"status":"success","data":');
      yield* addList(body, answer.patterns, patternText);
      body.push(`${warningsText(answer)}}`);
      return;
    case 'shards':
      body.push('{"shards":');
      yield* addList(body, answer.shards, shardText);
      body.push(`,"statistics":${encodeStats(noStats)}${warningsText(answer)}}`);
  }
}

function addEmpty(body: BodyParts, answer: Warned): void {
  body.push(`{${warningsText(answer).slice(1)}}`);
}

/** A volume is a vector unless a series has more than one sample. */
function* addVolume(body: BodyParts, answer: VolumeAnswer): Steps<void> {
  const { series, stats } = answer;
  const isVector = series.every(({ points }) => points.length === 1);
  body.push(`{"status":"success","data":{"resultType":"${isVector ? 'vector' : 'matrix'}","result":`);
  yield* addList(body, series, ({ labels, points }) => {
    const texts = points.map(pointText);
    return `{"metric":${labels.json},${isVector ? `"value":${texts.join('')}` : `"values":[${texts.join(',')}]`}}`;
  });
  body.push(`,"stats":${encodeStats(stats)}}${warningsText(answer)}}`);
}

function pointText({ timestampMs, value }: Point): string {
  return `[${formatSeconds(timestampMs)},"${formatFloatPlain(value)}"]`;
}

function fieldText({ label, type, parsers, jsonPath, values }: DetectedField): string {
  return JSON.stringify({
    label,
    type,
    cardinality: values.length,
    // Clients do not show a field with an empty list, so null is written, as in Loki.
    parsers: parsers.length === 0 ? null : parsers,
    jsonPath,
  });
}

function labelText({ label, values }: DetectedLabel): string {
  return JSON.stringify({ label, cardinality: values.length });
}

const htmlCharacters = /[<>&]/g;

function patternText({ pattern, level, samples }: PatternResult): string {
  const text = JSON.stringify(pattern).replace(
    htmlCharacters,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  const ofLevel = level === undefined ? '' : `"level":${JSON.stringify(level)},`;
  return `{"pattern":${text},${ofLevel}"samples":${JSON.stringify(samples)}}`;
}

function shardText({ min, max, streams, chunks, bytes, entries }: ShardResult): string {
  // Bounds are 64-bit numbers, which JSON.stringify cannot write.
  const stats = JSON.stringify({ streams, chunks, bytes, entries });
  return `{"bounds":{"min":${String(min)},"max":${String(max)}},"stats":${stats}}`;
}

const noStats = {
  linesProcessed: 0,
  bytesProcessed: 0,
  entriesReturned: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 0,
};
