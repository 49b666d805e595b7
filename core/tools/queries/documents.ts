import { parseDuration } from '../../base/time/option-duration.js';
import { asArray, asObject, asText, type Json } from '../../comparison/json.js';
import type { FilePosition, FoundQueries, FoundQuery, FoundVariable } from './found-query.js';

/** Maximum depth of a document; deeper parts are not read. */
const maxDepth = 64;

interface Context {
  readonly group: string;
  readonly name: string;
  readonly dataSource: string | undefined;
  /** True for rules, which are evaluated at one time. */
  readonly isRule: boolean;
  /** Keys and indexes that lead to the object in the document. */
  readonly keys: readonly (string | number)[];
}

/** The position of the value at these keys of a document, if it is known. */
export type PositionOf = (keys: readonly (string | number)[]) => FilePosition | undefined;

interface Found {
  readonly queries: FoundQuery[];
  readonly positionOf: PositionOf;
  skipped: number;
}

/**
 * The queries of a JSON or YAML document: every object with a text `expr`. Dashboards of any schema, library panels, alert rules of a Loki
 * ruler and provisioned alert rules of Grafana are thus all read in the same way. Data sources that are known not to be a Loki are skipped.
 */
export function queriesOfDocument(
  document: unknown,
  file: string,
  positionOf: PositionOf = () => undefined,
): FoundQueries {
  const found: Found = { queries: [], positionOf, skipped: 0 };
  const root = asObject(document);
  const dashboard = asObject(root['dashboard'] ?? root['spec'] ?? root);
  const group = textOf(dashboard, 'title') ?? file;
  collect(document, { group, name: '', dataSource: undefined, isRule: false, keys: [] }, found);
  const lists = [asObject(dashboard['templating'])['list'], dashboard['variables']];
  const variables = lists.flatMap((list) => asArray(list).map(variableOf)).filter(({ name }) => name !== '');
  return { queries: found.queries, variables, skipped: found.skipped };
}

function collect(node: unknown, context: Context, found: Found): void {
  if (context.keys.length > maxDepth || typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const [index, item] of node.entries())
      collect(item, { ...context, keys: [...context.keys, index] }, found);
    return;
  }
  const object = asObject(node);
  const own = contextOf(object, context);
  const expr = textOf(object, 'expr');
  if (expr !== undefined && object['hide'] !== true) {
    if (own.dataSource !== undefined && own.dataSource !== 'loki') found.skipped += 1;
    else {
      const at = found.positionOf([...own.keys, 'expr']);
      const query = queryOf(object, expr, own, found.queries.length);
      found.queries.push(at === undefined ? query : { ...query, at });
    }
  }
  for (const [key, inner] of Object.entries(object))
    collect(inner, { ...own, keys: [...own.keys, key] }, found);
}

function contextOf(object: Json, context: Context): Context {
  const isRuleGroup = Array.isArray(object['rules']);
  const name = textOf(object, 'alert') ?? textOf(object, 'record') ?? textOf(object, 'title');
  return {
    group: isRuleGroup ? (textOf(object, 'name') ?? context.group) : context.group,
    name: name ?? context.name,
    dataSource: dataSourceOf(object) ?? context.dataSource,
    isRule: context.isRule || isRuleGroup,
    keys: context.keys,
  };
}

/** The type of the data source, if the object has one: `loki`, `prometheus`. Old dashboards only have its name. */
function dataSourceOf(object: Json): string | undefined {
  const { datasource } = object;
  const type = textOf(asObject(datasource), 'type');
  if (type !== undefined) return type === 'datasource' ? undefined : type;
  return object['kind'] === 'DataQuery' ? textOf(object, 'group') : undefined;
}

function queryOf(object: Json, text: string, { group, name, isRule }: Context, index: number): FoundQuery {
  const refId = textOf(object, 'refId');
  const isInstant = isRule || object['queryType'] === 'instant' || object['instant'] === true;
  const step = textOf(object, 'step');
  const stepMs = step === undefined ? undefined : parseDuration(step, 'long');
  const limit = Number(object['maxLines'] ?? 0);
  return {
    group,
    name: [name === '' ? `query ${index + 1}` : name, ...(refId === undefined ? [] : [refId])].join(' '),
    text,
    kind: isInstant ? 'instant' : 'range',
    ...(stepMs === undefined ? {} : { stepMs }),
    ...(limit > 0 ? { limit } : {}),
  };
}

function variableOf(item: unknown): FoundVariable {
  const outer = asObject(item);
  // Schema 2 of dashboards nests the members of a variable, and names its type beside them.
  const own = asObject(outer['spec'] ?? outer);
  const type = (textOf(own, 'type') ?? textOf(outer, 'kind') ?? '').replace(/Variable$/, '').toLowerCase();
  const options = asArray(own['options']).map((option) => asText(asObject(option)['value']));
  const { value } = asObject(own['current']);
  const allValue = textOf(own, 'allValue');
  return {
    name: textOf(own, 'name') ?? '',
    type,
    current: (Array.isArray(value) ? value : [value]).map(asText).filter((text) => text !== ''),
    options: options.filter((option) => option !== '' && option !== allOption),
    ...(allValue === undefined ? {} : { allValue }),
    ...(type === 'query' ? askedOf(own['query']) : valuesOf(type, own['query'])),
  };
}

/** The option of a variable that stands for all its values. */
export const allOption = '$__all';

/** The label whose values a variable lists: `label_values(app)`, `label_values({env="prod"}, app)`, or the same as an object. */
function askedOf(query: unknown): Partial<FoundVariable> {
  const object = asObject(asObject(query)['spec'] ?? query);
  const text = typeof query === 'string' ? query : (textOf(object, 'query') ?? '');
  const { selector, label } =
    /^\s*label_values\(\s*(?:(?<selector>\{.*\})\s*,\s*)?(?<label>[^\s,(){}]+)\s*\)\s*$/s.exec(text)
      ?.groups ?? {};
  const found = { label: label ?? textOf(object, 'label'), selector: selector ?? textOf(object, 'stream') };
  return {
    ...(found.label === undefined ? {} : { label: found.label }),
    ...(found.selector === undefined ? {} : { selector: found.selector }),
  };
}

/** Values of constants, text boxes, intervals and custom lists, which are in the query. */
function valuesOf(type: string, query: unknown): Partial<FoundVariable> {
  if (typeof query !== 'string' || query === '') return {};
  const isList = type === 'custom' || type === 'interval';
  const values = isList ? query.split(',').map((value) => value.trim().replace(/^[^:]* : /, '')) : [query];
  return { options: values };
}

function textOf(object: Json, member: string): string | undefined {
  const value = object[member];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
