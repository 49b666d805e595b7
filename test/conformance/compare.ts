import type { Answered, Case } from './cases.js';
import { compareDetected } from './compare-detected.js';
import { compareSamples } from './compare-samples.js';
import { compareStreams } from './compare-streams.js';
import { compareVolume, isAsBig } from './compare-volume.js';
import { asArray, asObject, asText, canonical, setDifference } from './json.js';

/** Compares the proxy's answer with Loki's under the corpus's rules; undefined when they agree. */
export function compareAnswers(request: Case, golden: Answered, answer: Answered): string | undefined {
  if (golden.status !== answer.status) {
    return `status ${answer.status}, Loki ${golden.status}: ${canonical(answer.body).slice(0, 300)} | ${canonical(golden.body).slice(0, 200)}`;
  }
  if (golden.status !== 200)
    return golden.status === 404 ? undefined : compareErrors(golden.body, answer.body);
  return compareBodies(request, golden.body, answer.body);
}

function compareErrors(golden: unknown, answer: unknown): string | undefined {
  const wanted = withoutSeries(errorText(golden));
  const got = withoutSeries(errorText(answer));
  return wanted === got ? undefined : `error text\n  got  ${got}\n  Loki ${wanted}`;
}

function errorText(body: unknown): string {
  if (typeof body === 'string') return body.trim();
  const { error, message } = asObject(body);
  return asText(error ?? message).trim();
}

// The series that a pipeline error names is any one of those that failed.
function withoutSeries(text: string): string {
  return text.replace(/(pipeline error: '[^']*' for series: ').*?('\.\nUse a label filter)/s, '$1$2');
}

function compareBodies(request: Case, golden: unknown, answer: unknown): string | undefined {
  const path = request.path.replace(/^\/(?:loki|ref)\/api\/v1\//, '');
  const [wanted, got] = [asObject(golden), asObject(answer)];
  if (path === 'query_range' || path === 'query') return compareQuery(request, wanted, got);
  if (path === 'labels' || path === 'label' || path === 'series' || /^label\/.*\/values$/.test(path)) {
    return setDifference(asArray(wanted['data']).map(canonical), asArray(got['data']).map(canonical));
  }
  if (/^detected_field\/.*\/values$/.test(path)) {
    return setDifference(asArray(wanted['values']).map(canonical), asArray(got['values']).map(canonical));
  }
  if (path === 'index/stats') {
    const isSame = wanted['streams'] === got['streams'] && wanted['entries'] === got['entries'];
    // Loki rounds the bytes of each chunk to KiB.
    const rounding = 512 * Number(wanted['chunks']);
    const { bytes } = wanted;
    return isSame && (bytes === undefined || isAsBig(Number(bytes), Number(got['bytes']), rounding))
      ? undefined
      : `index/stats ${canonical(got)} | Loki ${canonical(wanted)}`;
  }
  if (path === 'index/volume' || path === 'index/volume_range') return compareVolume(wanted, got);
  if (path === 'detected_labels' || path === 'detected_fields') return compareDetected(path, wanted, got);
  if (path === 'patterns') return comparePatterns(wanted, got);
  if (path === 'format_query')
    return wanted['data'] === got['data']
      ? undefined
      : `${asText(got['data'])} | Loki ${asText(wanted['data'])}`;
  if (path === 'status/buildinfo') return 'version' in got ? undefined : 'no version';
  return setDifference(Object.keys(wanted), Object.keys(got));
}

function compareQuery(
  request: Case,
  wanted: Readonly<Record<string, unknown>>,
  got: Readonly<Record<string, unknown>>,
): string | undefined {
  const [wantedData, gotData] = [asObject(wanted['data']), asObject(got['data'])];
  if (wantedData['resultType'] !== gotData['resultType']) {
    return `resultType ${asText(gotData['resultType'])}, Loki ${asText(wantedData['resultType'])}`;
  }
  const flags = setDifference(
    asArray(wantedData['encodingFlags']).map(asText),
    asArray(gotData['encodingFlags']).map(asText),
  );
  if (flags !== undefined) return `encodingFlags: ${flags}`;
  const warnings = setDifference(
    asArray(wanted['warnings']).map(asText),
    asArray(got['warnings']).map(asText),
  );
  if (warnings !== undefined) return `warnings: ${warnings}`;
  if (wantedData['resultType'] === 'streams')
    return compareStreams(request, wantedData['result'], gotData['result']);
  return compareSamples(request.ordered === true, wantedData, gotData);
}

/** Clustering need not be the same: both find something, the counts agree within 20 %, a third of the texts is shared. */
function comparePatterns(
  wanted: Readonly<Record<string, unknown>>,
  got: Readonly<Record<string, unknown>>,
): string | undefined {
  const [wantedItems, gotItems] = [asArray(wanted['data']).map(asObject), asArray(got['data']).map(asObject)];
  if ((wantedItems.length === 0) !== (gotItems.length === 0))
    return `${gotItems.length} patterns, Loki ${wantedItems.length}`;
  if (wantedItems.length === 0) return undefined;
  const [wantedSum, gotSum] = [sumOf(wantedItems), sumOf(gotItems)];
  if (Math.abs(gotSum - wantedSum) > 0.2 * wantedSum)
    return `patterns count ${gotSum} lines, Loki ${wantedSum}`;
  const texts = new Set(gotItems.map((item) => asText(item['pattern'])));
  const shared = wantedItems.filter((item) => texts.has(asText(item['pattern']))).length;
  return shared >= 0.3 * wantedItems.length
    ? undefined
    : `${shared} of ${wantedItems.length} pattern texts are there`;
}

function sumOf(items: readonly Readonly<Record<string, unknown>>[]): number {
  return items
    .flatMap((item) => asArray(item['samples']))
    .reduce<number>((sum, sample) => sum + Number(asArray(sample)[1]), 0);
}
