import type { GroupKey, LogsqlFilter, LogsqlPipe, SortKey, StatsFunction, UpdateRules } from './ast.js';
import { printFilter } from './print.js';
import { printMath } from './print-math.js';
import { quoteListed, quoteSize, quoteText } from './quote.js';

/** Prints one pipe, without the bar in front of it. */
export function printPipe(pipe: LogsqlPipe): string {
  switch (pipe.kind) {
    case 'fields':
    case 'delete':
      return `${pipe.kind} ${pipe.fields.map(quoteListed).join(', ')}`;
    case 'copy':
    case 'rename':
      return `${pipe.kind} ${pipe.pairs.map((pair) => `${quoteListed(pair.from)} as ${quoteListed(pair.to)}`).join(', ')}`;
    case 'sort': {
      const parts = ['sort'];
      if (pipe.by.length > 0) parts.push(`by (${printKeys(pipe.by)})`);
      if (pipe.desc) parts.push('desc');
      parts.push(...printPartition(pipe.partitionBy));
      if (pipe.offset !== undefined) parts.push(`offset ${pipe.offset}`);
      if (pipe.limit !== undefined) parts.push(`limit ${pipe.limit}`);
      return [...parts, ...printRank(pipe.rankAs)].join(' ');
    }
    case 'first':
    case 'last': {
      const parts = [pipe.kind, pipe.count.toString()];
      if (pipe.by.length > 0) parts.push(`by (${printKeys(pipe.by)})`);
      return [...parts, ...printPartition(pipe.partitionBy), ...printRank(pipe.rankAs)].join(' ');
    }
    case 'limit':
    case 'offset':
      return `${pipe.kind} ${pipe.count}`;
    case 'stats':
    case 'running_stats':
    case 'total_stats': {
      const by = pipe.by.length === 0 ? '' : `by (${pipe.by.map(printGroupKey).join(', ')}) `;
      return `${pipe.kind} ${by}${pipe.functions.map(printStatsFunction).join(', ')}`;
    }
    case 'uniq': {
      const limit = pipe.limit === undefined ? '' : ` limit ${pipe.limit}`;
      return `uniq by (${printNames(pipe.by)})${pipe.hits ? ' with hits' : ''}${limit}`;
    }
    case 'top':
      return [
        `top ${pipe.count} by (${printNames(pipe.by)}) hits as ${quoteName(pipe.hitsAs)}`,
        ...printRank(pipe.rankAs),
      ].join(' ');
    case 'filter':
      return `filter ${printFilter(pipe.filter)}`;
    case 'math':
      return `math ${pipe.entries.map((entry) => `${printMath(entry.expr)} as ${quoteName(entry.as)}`).join(', ')}`;
    case 'format':
      return `format${printIf(pipe.condition)} ${quoteText(pipe.pattern)} as ${quoteName(pipe.as)}${printRules(pipe)}`;
    case 'extract':
    case 'extract_regexp':
      return `${pipe.kind}${printIf(pipe.condition)} ${quoteText(pipe.pattern)} from ${quoteName(pipe.from)}${printRules(pipe)}`;
    case 'unpack_json':
    case 'unpack_logfmt': {
      const fields = pipe.fields.length === 0 ? '' : ` fields (${pipe.fields.map(quoteListed).join(', ')})`;
      const prefix = pipe.prefix === '' ? '' : ` result_prefix ${quoteText(pipe.prefix)}`;
      return `${pipe.kind}${printIf(pipe.condition)} from ${quoteName(pipe.from)}${fields}${prefix}${printRules(pipe)}`;
    }
    case 'replace':
    case 'replace_regexp': {
      const limit = pipe.limit === undefined ? '' : ` limit ${pipe.limit}`;
      const pair = `(${quoteText(pipe.old)}, ${quoteText(pipe.replacement)})`;
      return `${pipe.kind}${printIf(pipe.condition)} ${pair} at ${quoteName(pipe.at)}${limit}`;
    }
    case 'len':
    case 'hash':
    case 'json_array_len':
      return `${pipe.kind}(${quoteName(pipe.field)}) as ${quoteName(pipe.as)}`;
    case 'pack_json':
    case 'pack_logfmt': {
      const fields = pipe.fields.length === 0 ? '' : ` fields (${pipe.fields.map(quoteListed).join(', ')})`;
      return `${pipe.kind}${fields} as ${quoteName(pipe.as)}`;
    }
    case 'unroll':
      return `unroll${printIf(pipe.condition)} by (${printNames(pipe.by)})`;
    case 'split':
      return `split ${quoteText(pipe.separator)} from ${quoteName(pipe.from)} as ${quoteName(pipe.as)}`;
    case 'collapse_nums':
      return `collapse_nums${printIf(pipe.condition)} at ${quoteName(pipe.at)}${pipe.prettify ? ' prettify' : ''}`;
    case 'decolorize':
      return `decolorize ${quoteName(pipe.field)}`;
    case 'drop_empty_fields':
      return 'drop_empty_fields';
    case 'field_names':
      return `field_names as ${quoteName(pipe.as)}`;
    case 'field_values':
      return `field_values ${quoteName(pipe.field)}${pipe.limit === undefined ? '' : ` limit ${pipe.limit}`}`;
    case 'facets': {
      const parts = ['facets'];
      if (pipe.limit !== undefined) parts.push(pipe.limit.toString());
      if (pipe.maxValuesPerField !== undefined) parts.push(`max_values_per_field ${pipe.maxValuesPerField}`);
      if (pipe.maxValueLength !== undefined) parts.push(`max_value_len ${pipe.maxValueLength}`);
      if (pipe.keepConst) parts.push('keep_const_fields');
      return parts.join(' ');
    }
  }
}

// In pipes a name that ends with "*" would be read as a prefix, so all names go through the list form, which refuses it.
function quoteName(name: string): string {
  return quoteListed({ kind: 'name', name });
}

function printNames(names: readonly string[]): string {
  return names.map(quoteName).join(', ');
}

function printKeys(keys: readonly SortKey[]): string {
  return keys.map((key) => `${quoteName(key.field)}${key.desc ? ' desc' : ''}`).join(', ');
}

function printPartition(names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`partition by (${printNames(names)})`];
}

function printRank(name: string | undefined): string[] {
  return name === undefined ? [] : [`rank as ${quoteName(name)}`];
}

function printGroupKey(key: GroupKey): string {
  const field = quoteName(key.field);
  if (key.bucket === undefined) return field;
  const offset = key.bucket.offset === undefined ? '' : ` offset ${quoteSize(key.bucket.offset)}`;
  return `${field}:${quoteSize(key.bucket.size)}${offset}`;
}

function printIf(condition: LogsqlFilter | undefined): string {
  return condition === undefined ? '' : ` if (${printFilter(condition)})`;
}

function printRules(rules: UpdateRules): string {
  switch (rules.rule) {
    case 'overwrite':
      return '';
    case 'keep-original':
      return ' keep_original_fields';
    case 'skip-empty':
      return ' skip_empty_results';
  }
}

function printStatsFunction(func: StatsFunction): string {
  return `${printStatsCall(func)} as ${quoteName(func.as)}`;
}

/** Prints a function of `stats` without its result name; this text is also the default of that name. */
export function printStatsCall(func: Omit<StatsFunction, 'as'>): string {
  const args: string[] = [];
  if (func.phi !== undefined) args.push(func.phi.toString());
  if (func.source !== undefined) args.push(quoteName(func.source));
  args.push(...func.fields.map(quoteListed));
  const sortBy = func.sortBy === undefined ? '' : ` sort by (${printKeys(func.sortBy)})`;
  const limit = func.limit === undefined ? '' : ` limit ${func.limit}`;
  return `${func.name}(${args.join(', ')})${sortBy}${limit}${printIf(func.condition)}`;
}
