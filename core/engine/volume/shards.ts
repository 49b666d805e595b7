import type { ShardsAnswer } from '../../wire/answer/types.js';
import type { IndexShardsRequest } from '../../wire/api/discovery-request.js';
import { shardCount, spreadShards } from '../../wire/answer/merge/spread-shards.js';
import type { ShardsPlan } from '../plan/types.js';
import { answerIndexStats } from './index-stats.js';
import type { EngineContext } from '../context.js';

/** Splits the selected streams into parts of about the wanted size, by their statistics. */
export async function answerShards(
  { filter }: ShardsPlan,
  { range, targetBytesPerShard }: IndexShardsRequest,
  context: EngineContext,
): Promise<ShardsAnswer> {
  const totals = await answerIndexStats({ kind: 'index-stats', filter }, { range }, context);
  const shards = spreadShards(totals, shardCount(totals.bytes, targetBytesPerShard));
  return { kind: 'shards', shards, warnings: [] };
}
