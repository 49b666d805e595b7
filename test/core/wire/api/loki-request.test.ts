import test from 'ava';
import { lokiRequest } from '../../../../core/wire/api/loki-request.js';
import {
  parseDetectedFields,
  parseDetectedFieldValues,
  parseDetectedLabels,
  parseFormatQuery,
  parseIndexStats,
  parseInstantQuery,
  parseLabels,
  parseLabelValues,
  parsePatterns,
  parseQueryRange,
  parseSeries,
  parseVolume,
  parseVolumeRange,
  type ParamContext,
  type Params,
} from '../../../../core/wire/api/params/index.js';
import type { ApiRequest } from '../../../../core/wire/api/request.js';
import { readCases, type CaseSet } from '../../../conformance/cases.js';

const context: ParamContext = {
  nowNs: 1_793_512_800_000_000_000n,
  dottedNames: 'reject',
  hasBrowseExtensions: false,
  defaultLimit: 100,
  metadataLookbackNs: 0n,
};

/** The proxy limits pattern searches itself and does not take these limits from the request. */
const search = { maxRows: 1, secondPassMaxRows: 1, secondPassMaxWindows: 1, custom: [] };

type Parse = (params: Params, context: ParamContext) => ApiRequest;

const parsers: Readonly<Record<string, Parse>> = {
  query_range: parseQueryRange,
  query: parseInstantQuery,
  labels: parseLabels,
  series: parseSeries,
  'index/stats': parseIndexStats,
  'index/volume': parseVolume,
  'index/volume_range': parseVolumeRange,
  detected_labels: parseDetectedLabels,
  detected_fields: parseDetectedFields,
  patterns: (params, own) => parsePatterns(params, own, search),
  format_query: parseFormatQuery,
};

function parse(
  path: string,
  params: Readonly<Record<string, string | readonly string[]>>,
): ApiRequest | undefined {
  const route = path.replace('/loki/api/v1/', '');
  const merged = new Map(Object.entries(params).map(([name, value]) => [name, [value].flat()]));
  const [, listing, name = ''] = /^(label|detected_field)\/(.*)\/values$/.exec(route) ?? [];
  if (listing === 'label') return parseLabelValues(decodeURIComponent(name), merged, context);
  if (listing === 'detected_field')
    return parseDetectedFieldValues(decodeURIComponent(name), merged, context);
  return parsers[route]?.(merged, context);
}

/** The meaning of a request as text. Leaves out the flag for an open range, because the range of the second request is always explicit. */
function meaning(request: ApiRequest): string {
  return JSON.stringify({ ...request, isOpenRange: undefined }, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value instanceof Object && 'text' in value ? value.text : value,
  );
}

for (const set of ['http', 'reports', 'doors'] satisfies readonly CaseSet[])
  test(`every recorded request of ${set} is asked of another Loki with the same meaning`, (t) => {
    const seen = new Set<string>();
    for (const { request } of readCases(set)) {
      let parsed: ApiRequest | undefined;
      try {
        parsed = parse(request.path, request.params);
      } catch {
        // A refused request is not sent on.
        continue;
      }
      if (parsed === undefined) continue;
      const sent = lokiRequest(parsed);
      if (sent === undefined) {
        t.fail(`${request.id} is not sent`);
        continue;
      }
      const again = parse(sent.path, sent.params);
      t.is(again === undefined ? undefined : meaning(again), meaning(parsed), request.id);
      seen.add(parsed.op);
    }
    t.true(seen.size > 3, [...seen].join());
  });

test('requests that change something, or that no Loki has, are not sent on', (t) => {
  t.is(lokiRequest({ op: 'tenant' }), undefined);
  t.is(lokiRequest({ op: 'deletions' }), undefined);
});
