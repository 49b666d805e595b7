import { isListed } from '../../../core/victoria/logsql/build.js';
import type { EmbeddedPipe } from '../logsql/index.js';
import type { ScanOrder } from '../store/scan.js';

/** An order for reading the store that makes a sort in the pipes unnecessary. */
export interface OrderedPipes {
  readonly order: ScanOrder;
  readonly pipes: readonly EmbeddedPipe[];
}

/**
 * Converts a leading `sort by (_time)`, `first n by (_time)` or `last n by (_time)` to the order in which blocks are read, leaving only a
 * limit: the newest thousand rows of a large store then cost a thousand rows instead of a sort.
 */
export function pullOrder(pipes: readonly EmbeddedPipe[]): OrderedPipes {
  const at = pipes.findIndex((pipe) => !keepsRowsInTime(pipe));
  const sort = pipes[at];
  if (sort === undefined) return { order: 'any', pipes };
  const cut = timeSort(sort);
  if (cut === undefined) return { order: 'any', pipes };
  const cuts: EmbeddedPipe[] = [];
  if (cut.offset > 0) cuts.push({ kind: 'offset', count: cut.offset });
  if (cut.limit !== undefined) cuts.push({ kind: 'limit', count: cut.limit });
  return {
    order: cut.desc ? 'desc' : 'asc',
    pipes: [...pipes.slice(0, at), ...cuts, ...pipes.slice(at + 1)],
  };
}

interface TimeCut {
  readonly desc: boolean;
  readonly offset: number;
  readonly limit: number | undefined;
}

function timeSort(pipe: EmbeddedPipe): TimeCut | undefined {
  if (pipe.kind !== 'sort' && pipe.kind !== 'first' && pipe.kind !== 'last') return undefined;
  const [key, ...others] = pipe.by;
  if (key?.field !== '_time' || others.length > 0) return undefined;
  if (pipe.partitionBy.length > 0 || pipe.rankAs !== undefined) return undefined;
  if (pipe.kind === 'sort') {
    // In a sort, `limit 0` means no limit.
    const limit = pipe.limit === undefined || pipe.limit === 0 ? undefined : pipe.limit;
    return { desc: key.desc !== pipe.desc, offset: pipe.offset ?? 0, limit };
  }
  return { desc: key.desc !== (pipe.kind === 'last'), offset: 0, limit: pipe.count };
}

/**
 * True if a pipe works row by row, keeps the order of rows and does not change `_time`. Only such pipes may come between the store and a
 * limit on the newest rows.
 */
export function keepsRowsInTime(pipe: EmbeddedPipe): boolean {
  switch (pipe.kind) {
    case 'filter':
    case 'drop_empty_fields':
    case 'unroll':
      return true;
    case 'fields':
      return isListed(pipe.fields, '_time');
    case 'delete':
      return !isListed(pipe.fields, '_time');
    case 'copy':
      return !pipe.pairs.some(({ to }) => isListed([to], '_time'));
    case 'rename':
      return !pipe.pairs.some(({ from, to }) => isListed([from, to], '_time'));
    case 'math':
      return !pipe.entries.some(({ as }) => as === '_time');
    case 'unpack_json':
    case 'unpack_logfmt':
      return pipe.prefix !== ''
        ? !'_time'.startsWith(pipe.prefix)
        : pipe.fields.length > 0 && !isListed(pipe.fields, '_time');
    case 'extract':
      return !pipe.pattern.includes('_time>');
    case 'extract_regexp':
      return !pipe.pattern.includes('<_time>');
    case 'replace':
    case 'replace_regexp':
    case 'collapse_nums':
      return pipe.at !== '_time';
    case 'decolorize':
      return pipe.field !== '_time';
    case 'format':
    case 'len':
    case 'hash':
    case 'json_array_len':
    case 'pack_json':
    case 'pack_logfmt':
    case 'split':
      return pipe.as !== '_time';
    case 'sort':
    case 'first':
    case 'last':
    case 'limit':
    case 'offset':
    case 'stats':
    case 'running_stats':
    case 'total_stats':
    case 'uniq':
    case 'top':
    case 'field_names':
    case 'field_values':
    case 'facets':
    case 'union':
      return false;
  }
}
