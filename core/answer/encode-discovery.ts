import { encodeStats } from './encode-stats.js';
import { formatSampleValue, formatSeconds } from './encode-values.js';
import type {
  DetectedField,
  DetectedLabel,
  DiscoveryAnswer,
  PatternResult,
  ShardResult,
  VolumeAnswer,
} from './discovery-types.js';
import type { Point } from './types.js';

/** The body of a discovery answer in the reference's shape (spec-gaps: Response bodies, Patterns response). */
export function discoveryText(answer: DiscoveryAnswer): string {
  switch (answer.kind) {
    case 'volume':
      return volumeText(answer);
    case 'detected-fields':
      // The reference leaves out what is empty, here and in the next two.
      return answer.fields.length === 0
        ? '{}'
        : `{"fields":[${answer.fields.map(fieldText).join(',')}],"limit":${answer.limit}}`;
    case 'detected-field-values':
      return answer.values.length === 0
        ? '{}'
        : `{"limit":${answer.limit},"values":${JSON.stringify(answer.values)}}`;
    case 'detected-labels':
      return answer.labels.length === 0
        ? '{}'
        : `{"detectedLabels":[${answer.labels.map(labelText).join(',')}]}`;
    case 'patterns':
      return `{"status":"success","data":[${answer.patterns.map(patternText).join(',')}]}`;
    case 'shards':
      return `{"shards":[${answer.shards.map(shardText).join(',')}],"statistics":${encodeStats(noStats)}}`;
  }
}

/** A volume is a vector as long as no series has more than one sample. */
function volumeText({ series, stats }: VolumeAnswer): string {
  const isVector = series.every(({ points }) => points.length === 1);
  const results = series.map(({ labels, points }) => {
    const texts = points.map(pointText);
    return `{"metric":${labels.json},${isVector ? `"value":${texts.join('')}` : `"values":[${texts.join(',')}]`}}`;
  });
  const type = isVector ? 'vector' : 'matrix';
  return `{"status":"success","data":{"resultType":"${type}","result":[${results.join(',')}],"stats":${encodeStats(stats)}}}`;
}

function pointText({ timestampMs, value }: Point): string {
  return `[${formatSeconds(timestampMs)},"${formatSampleValue(value)}"]`;
}

function fieldText({ label, type, parsers, jsonPath, values }: DetectedField): string {
  return JSON.stringify({
    label,
    type,
    cardinality: values.length,
    // An empty list would hide the field from clients; the reference writes null.
    parsers: parsers.length === 0 ? null : parsers,
    jsonPath,
  });
}

function labelText({ label, values }: DetectedLabel): string {
  return JSON.stringify({ label, cardinality: values.length });
}

const htmlSigns = /[<>&]/g;

function patternText({ pattern, level, samples }: PatternResult): string {
  const text = JSON.stringify(pattern).replace(
    htmlSigns,
    (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`,
  );
  const ofLevel = level === undefined ? '' : `"level":${JSON.stringify(level)},`;
  return `{"pattern":${text},${ofLevel}"samples":${JSON.stringify(samples)}}`;
}

function shardText({ min, max, streams, chunks, bytes, entries }: ShardResult): string {
  // Bounds are 64 bits wide, which JSON.stringify has no number for.
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
