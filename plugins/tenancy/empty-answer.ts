import {
  mergeDetectedFields,
  mergeDetectedFieldValues,
  mergeDetectedLabels,
  mergeMatrix,
  mergePatterns,
  mergeShards,
  mergeStreams,
  mergeVector,
  mergeVolume,
} from '../../core/wire/answer/merge/index.js';
import type { Answer } from '../../core/wire/answer/types.js';
import type { ApiRequest } from '../../core/wire/api/request.js';
import { doAll } from '../../core/base/pace/steps.js';

/** What a request answers when nothing of what it asks for may be seen. */
export function emptyAnswer(request: ApiRequest): Answer {
  switch (request.op) {
    case 'query_range':
      return request.query.ast.kind === 'log'
        ? doAll(mergeStreams([], { direction: request.direction }))
        : doAll(mergeMatrix([]));
    case 'query':
      return doAll(mergeVector([]));
    case 'tail':
    case 'delete':
    case 'format_query':
    case 'tenant':
      return doAll(mergeStreams([], { direction: 'backward' }));
    case 'labels':
    case 'label_values':
      return { kind: 'names', values: [], warnings: [] };
    case 'series':
      return { kind: 'series', series: [], warnings: [] };
    case 'volume':
    case 'volume_range':
      return doAll(mergeVolume([]));
    case 'index_shards':
      return mergeShards([]);
    case 'detected_labels':
      return doAll(mergeDetectedLabels([]));
    case 'detected_fields':
      return doAll(mergeDetectedFields([]));
    case 'detected_field_values':
      return doAll(mergeDetectedFieldValues([]));
    case 'patterns':
      return doAll(mergePatterns([]));
    case 'index_stats':
      return { kind: 'index-stats', streams: 0, chunks: 0, bytes: 0, entries: 0, warnings: [] };
  }
}
