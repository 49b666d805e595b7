/**
 * The one place where cache keys are made. A key names everything an answer depends on: the operation, the tenant and where its
 * data are, the tuple mode, the forwarded credentials and the parameters. Everything a client can write is escaped, so no two
 * different requests share a key.
 */
import type { VolumeRangeRequest, VolumeRequest } from '../wire/api/discovery-request.js';
import type { ApiRequest, Browse, Operation, QueryRangeRequest, QueryRequest } from '../wire/api/request.js';
import type { Selector } from '../wire/api/query.js';
import type { Exchange } from '../kernel/plugin/exchange.js';

/** The key of an exchange's answer: `<op>:<tenant>:<where>:<tuple mode>:<credentials>:<parameters>`. */
export function cacheKey(exchange: Exchange<'tenant'>, fingerprint: string): string {
  const { request, caller } = exchange;
  const { id, accountId, projectId, streamField } = exchange.slots.tenant;
  // After a reload of the tenant map the same id may mean other data.
  const where = `${accountId}.${projectId}${streamField === undefined ? '' : `.${escapeText(streamField)}`}`;
  const mode = `${caller.categorizeLabels ? 'categorize_labels_3tuple' : 'default_2tuple'}${caller.isDrilldown ? '.drilldown' : ''}`;
  return `${request.op}:${escapeText(id)}:${where}:${mode}:${fingerprint}:${parametersOf(request)}`;
}

const neverKept: ReadonlySet<Operation> = new Set(['format_query', 'tail', 'delete', 'tenant']);

/** True for what no cache keeps and no two callers share: it is cheap, has no end, or changes something. */
export function isNeverKept({ op }: ApiRequest): boolean {
  return neverKept.has(op);
}

/** The parameters of a request in one form, sorted by name. */
function parametersOf(request: ApiRequest): string {
  switch (request.op) {
    case 'query_range': {
      const { query, range, stepNs, limit, direction, intervalNs } = request;
      const times = `${rangeOf(range.startNs, range.endNs)}&step=${stepNs}`;
      return `direction=${direction}&interval=${intervalNs}&limit=${limit}${partOf(request)}&query=${escapeText(query.text)}&${times}`;
    }
    case 'query':
      return `direction=${request.direction}&limit=${request.limit}${partOf(request)}&query=${escapeText(request.query.text)}&time=${request.timeNs}`;
    case 'labels':
      return `${browseOf(request.browse)}&${selectorOf(request.query)}&${rangeOf(request.range.startNs, request.range.endNs)}`;
    case 'label_values':
      return `${browseOf(request.browse)}&name=${escapeText(request.name)}&${selectorOf(request.query)}&${rangeOf(request.range.startNs, request.range.endNs)}`;
    case 'series': {
      const selectors = [...new Set(request.selectors.map((selector) => selector.text))].sort();
      return `match=${selectors.map(escapeText).join(',')}&${rangeOf(request.range.startNs, request.range.endNs)}`;
    }
    case 'index_stats':
      return `${selectorOf(request.query)}&${rangeOf(request.range.startNs, request.range.endNs)}`;
    case 'volume':
      return volumeOf(request);
    case 'volume_range':
      return `${volumeOf(request)}&step=${request.stepNs}`;
    case 'index_shards':
      return `query=${escapeText(request.query.text)}&${rangeOf(request.range.startNs, request.range.endNs)}&target=${request.targetBytesPerShard}`;
    case 'detected_labels':
      return `${selectorOf(request.query)}&${rangeOf(request.range.startNs, request.range.endNs)}`;
    case 'detected_fields':
    case 'detected_field_values': {
      const name = request.op === 'detected_fields' ? '' : `&name=${escapeText(request.name)}`;
      const { query, range, limit, lineLimit } = request;
      return `limit=${limit}&lines=${lineLimit}${name}&query=${escapeText(query.text)}&${rangeOf(range.startNs, range.endNs)}`;
    }
    case 'patterns': {
      const { query, range, stepNs, limit, search } = request;
      const custom = search.custom.map(escapeText).join(',');
      const rows = `${search.maxRows}.${search.secondPassMaxRows}.${search.secondPassMaxWindows}`;
      return `custom=${custom}&limit=${limit}&${selectorOf(query)}&rows=${rows}&${rangeOf(range.startNs, range.endNs)}&step=${stepNs}`;
    }
    case 'format_query':
    case 'tail':
    case 'delete':
      return `query=${escapeText(request.query.text)}`;
    case 'tenant':
      return '';
  }
}

/** A part of a query may have more series than a whole one. */
function partOf({ isPart = false }: QueryRangeRequest | QueryRequest): string {
  return isPart ? '&part=1' : '';
}

function volumeOf(request: VolumeRequest | VolumeRangeRequest): string {
  const { query, range, limit, targetLabels, aggregateBy } = request;
  const targets = targetLabels.map(escapeText).join(',');
  return `by=${aggregateBy}&limit=${limit}&${selectorOf(query)}&${rangeOf(range.startNs, range.endNs)}&targets=${targets}`;
}

function rangeOf(startNs: bigint, endNs: bigint): string {
  return `end=${endNs}&start=${startNs}`;
}

/** No selector browses everything, which is written `*`; a selector's own `*` is escaped. */
function selectorOf(selector: Selector | undefined): string {
  return `query=${selector === undefined ? '*' : escapeText(selector.text)}`;
}

function browseOf(browse: Browse): string {
  const { limit, offset, search } = browse;
  return `browse=${limit ?? ''}.${offset ?? ''}.${search === undefined ? '' : `s${escapeText(search)}`}`;
}

const plain = /^[A-Za-z0-9_-]*$/;

/** Percent-encodes everything but letters, digits, `_` and `-`; different texts stay different. */
export function escapeText(text: string): string {
  if (plain.test(text)) return text;
  try {
    // encodeURIComponent leaves these as they are.
    return encodeURIComponent(text).replace(/[.!~*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  } catch {
    // Half a surrogate pair has no UTF-8; %u is what no other text begins with here.
    return text.replace(/[^A-Za-z0-9_-]/g, (unit) => `%u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
}
