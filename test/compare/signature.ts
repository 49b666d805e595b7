import { errorText, type Answered } from '../../core/comparison/answers.js';
import { differingLabels } from '../../core/comparison/likeness.js';
import { asArray, asObject, asText, canonical } from '../../core/comparison/json.js';
import { LogqlError, parseQuery, visit, type AstNode } from '../../core/logql/index.js';
import type { Question } from './question.js';
import type { Different } from './verdict.js';

/** The identity of a cause: the shape of the smallest question, and the way its responses differ. */
export function signatureOf(question: Question, difference: Different): string {
  return [
    question.path.replace(/\/[^/]+\/values$/, '/*/values'),
    shapeOf(question),
    natureOf(difference),
  ].join(' · ');
}

/** The node kinds of a query, without its names and values. */
function shapeOf({ query, tenants }: Question): string {
  const several = tenants.length > 1 ? ['several tenants'] : [];
  if (query === undefined) return several.join(' ');
  try {
    const parts: string[] = [];
    visit(parseQuery(query.text), (node) => {
      const part = partOf(node);
      if (part !== undefined) parts.push(part);
    });
    return [...several, ...parts].join(' ');
  } catch (error) {
    if (error instanceof LogqlError) return [...several, 'not read'].join(' ');
    throw error;
  }
}

const plain: ReadonlySet<string> = new Set(['log', 'selector', 'matcher', 'log-range', 'literal']);

function partOf(node: AstNode): string | undefined {
  if (plain.has(node.kind)) return undefined;
  return 'op' in node ? `${node.kind}(${node.op})` : node.kind;
}

/** The way two responses differ, without the values of this case. */
export function natureOf({ wanted, got, text }: Pick<Different, 'wanted' | 'got' | 'text'>): string {
  if (wanted.status !== got.status)
    return `status ${got.status}, Loki ${wanted.status}: ${general(errorText((wanted.status === 200 ? got : wanted).body))}`;
  if (wanted.status !== 200) return `error: ${general(errorText(wanted.body))}`;
  const labels = differingLabels(wanted, got);
  if (labels !== undefined) return labels;
  return fieldRespects(wanted, got) ?? general(firstDifference(wanted, got) ?? text).slice(0, 160);
}

/** The attributes in which detected fields differ, and `missing field` or `extra field`. */
function fieldRespects(wanted: Answered, got: Answered): string | undefined {
  const [wantedFields, gotFields] = [wanted, got].map(
    ({ body }) =>
      new Map(
        asArray(asObject(body)['fields']).map((field) => [asText(asObject(field)['label']), asObject(field)]),
      ),
  );
  if (wantedFields === undefined || gotFields === undefined || wantedFields.size + gotFields.size === 0)
    return undefined;
  const respects = new Set<string>();
  for (const [label, field] of wantedFields) {
    const other = gotFields.get(label);
    if (other === undefined) respects.add('missing field');
    else
      for (const name of ['type', 'parsers', 'jsonPath'])
        if (canonical(field[name]) !== canonical(other[name])) respects.add(name);
  }
  if ([...gotFields.keys()].some((label) => !wantedFields.has(label))) respects.add('extra field');
  return [...respects].sort().join(', ');
}

/** The first pair of lines that differ. */
function firstDifference(wanted: Answered, got: Answered): string | undefined {
  const [wantedText, gotText] = [wanted, got].map(({ body }) => asObject(body)['data']);
  if (typeof wantedText !== 'string' || typeof gotText !== 'string') return undefined;
  const [wantedLines, gotLines] = [wantedText.split('\n'), gotText.split('\n')];
  const at = wantedLines.findIndex((line, index) => line !== gotLines[index]);
  return `${gotLines[at] ?? ''} | Loki ${wantedLines[at] ?? ''}`.replace(/\b[a-z]\w*(?=,|\)|=)/gi, 'x');
}

function general(text: string): string {
  return text
    .replace(/"(?:[^"\\]|\\.)*"|`[^`]*`|'[^']*'/g, '…')
    .replace(/\d+/g, '0')
    .replace(/\{[^{}]*\}/g, '{…}')
    .replace(/\[[^[\]]*\]/g, '[…]')
    .slice(0, 200);
}

/** Times, in nanoseconds, at which the points of two matrices differ. */
export function differingMoments({ wanted, got }: Pick<Different, 'wanted' | 'got'>): readonly bigint[] {
  const [wantedPoints, gotPoints] = [pointsByTime(wanted), pointsByTime(got)];
  const times = [...new Set([...wantedPoints.keys(), ...gotPoints.keys()])].sort((a, b) => a - b);
  const differing = times.filter(
    (time) => wantedPoints.get(time)?.sort().join('\n') !== gotPoints.get(time)?.sort().join('\n'),
  );
  return differing.map((seconds) => BigInt(Math.round(seconds * 1000)) * 1_000_000n);
}

function pointsByTime({ body }: Answered): ReadonlyMap<number, string[]> {
  const points = new Map<number, string[]>();
  for (const item of asArray(asObject(asObject(body)['data'])['result'])) {
    const { metric, values } = asObject(item);
    if (metric === undefined) continue;
    for (const point of asArray(values)) {
      const [time, value] = asArray(point);
      const at = points.get(Number(time)) ?? [];
      points.set(Number(time), at);
      at.push(`${canonical(metric)} ${asText(value)}`);
    }
  }
  return points;
}
