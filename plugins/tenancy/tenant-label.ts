import type { Answer, Entry, StreamResult } from '../../core/wire/answer/types.js';
import { type LabelSet, withoutEmpty } from '../../core/base/label-set.js';
import { originalTenantLabel, tenantLabel } from '../../core/operations/rules/tenant-names.js';

/**
 * Adds the tenant's label to everything in an answer that has labels; index statistics and listings have none.
 * @param isMerged true if the labels of entries will be merged into those of their streams. Empty values are then dropped, as in Loki,
 * which parses the labels of several tenants again.
 */
export function labelAnswer(answer: Answer, tenantId: string, isMerged: boolean): Answer {
  switch (answer.kind) {
    case 'streams':
      return { ...answer, streams: answer.streams.map((stream) => labelStream(stream, tenantId, isMerged)) };
    case 'series':
      return { ...answer, series: answer.series.map((labels) => labelSet(labels, tenantId)) };
    case 'names':
      return answer.values.includes(tenantLabel)
        ? { ...answer, values: answer.values.map(listedName) }
        : answer;
    case 'index-stats':
    case 'volume':
    case 'detected-fields':
    case 'detected-field-values':
    case 'detected-labels':
    case 'patterns':
    case 'shards':
    case 'matrix':
    case 'vector':
    case 'scalar':
    case 'formatted':
    case 'live':
    case 'tenant':
    case 'several':
    case 'encoded':
      return answer;
  }
}

function labelStream(stream: StreamResult, tenantId: string, isMerged: boolean): StreamResult {
  const moved = stream.entries.map(moveStored);
  const entries = isMerged ? moved.map((entry) => ({ ...entry, parsed: withoutEmpty(entry.parsed) })) : moved;
  return { labels: labelSet(stream.labels, tenantId), entries };
}

/** Converts one tenant's labels to the form shown for several tenants. */
export function labelSet(labels: LabelSet, tenantId: string): LabelSet {
  return renamed(labels).with([[tenantLabel, tenantId]]);
}

/** Moves metadata and parsed labels to the stream, unless the client requested them separately. */
function moveStored(entry: Entry): Entry {
  if (!entry.structuredMetadata.has(tenantLabel) && !entry.parsed.has(tenantLabel)) return entry;
  return { ...entry, structuredMetadata: renamed(entry.structuredMetadata), parsed: renamed(entry.parsed) };
}

function renamed(labels: LabelSet): LabelSet {
  if (!labels.has(tenantLabel)) return labels;
  return labels.without(new Set([tenantLabel])).with([[originalTenantLabel, labels.get(tenantLabel)]]);
}

function listedName(name: string): string {
  return name === tenantLabel ? originalTenantLabel : name;
}
