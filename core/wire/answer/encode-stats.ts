import type { AnswerStats } from './types.js';

const cacheCounters =
  '{"entriesFound":0,"entriesRequested":0,"entriesStored":0,"bytesReceived":0,"bytesSent":0,"requests":0,"downloadTime":0,"queryLengthServed":0}';
const cacheKinds = [
  'chunk',
  'index',
  'result',
  'statsResult',
  'volumeResult',
  'seriesResult',
  'labelResult',
  'instantMetricResult',
  'logResult',
  'taskResult',
];
const store =
  '{"totalChunksRef":0,"totalChunksDownloaded":0,"chunksDownloadTime":0,"queryReferencedStructuredMetadata":false,"queryUsedV2Engine":false,' +
  '"chunk":{"headChunkBytes":0,"headChunkLines":0,"decompressedBytes":0,"decompressedLines":0,"compressedBytes":0,"totalDuplicates":0,' +
  '"postFilterLines":0,"headChunkStructuredMetadataBytes":0,"decompressedStructuredMetadataBytes":0},"chunkRefsFetchTime":0,' +
  '"congestionControlLatency":0,"pipelineWrapperFilteredLines":0,"dataobj":{}}';
const cache = cacheKinds.map((kind) => `"${kind}":${cacheCounters}`).join(',');
// Statistics of Loki's own storage: always zero here, but readers expect the keys.
const storage =
  `"ingester":{"totalReached":0,"totalChunksMatched":0,"totalBatches":0,"totalLinesSent":0,"store":${store},"recvWaitTime":0},` +
  `"cache":{${cache}},` +
  '"index":{"totalChunks":0,"postFilterChunks":0,"shardsDuration":0,"usedBloomFilters":false,"totalStreams":0,"chunkRefsLookupTime":0,"bloomFilterTime":0}';

/** `data.stats` with the numbers of this answer (docs/protocol/answers.md#envelope); times in seconds. */
export function encodeStats(stats: AnswerStats): string {
  const seconds = stats.execTimeMs / 1000;
  const perSecond = (amount: number): number => (seconds > 0 ? Math.round(amount / seconds) : 0);
  const summary = {
    bytesProcessedPerSecond: perSecond(stats.bytesProcessed),
    linesProcessedPerSecond: perSecond(stats.linesProcessed),
    totalBytesProcessed: stats.bytesProcessed,
    totalLinesProcessed: stats.linesProcessed,
    execTime: seconds,
    queueTime: 0,
    subqueries: 0,
    totalEntriesReturned: stats.entriesReturned,
    splits: stats.splits,
    shards: 1,
    totalPostFilterLines: stats.postFilterLines,
    totalStructuredMetadataBytesProcessed: stats.structuredMetadataBytes,
  };
  return `{"summary":${JSON.stringify(summary)},"querier":{"store":${store},"querierExecTime":${seconds}},${storage}}`;
}
