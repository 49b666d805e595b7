import type { LabelItem, LineFilterStage, ParserParam, Selector, Stage, Unwrap } from '../ast.js';
import { quoteGo } from '../../base/time/go-quote.js';
import { printLabelFilter, printMatcher } from './label-filter.js';

export function printSelector({ matchers }: Pick<Selector, 'matchers'>): string {
  return `{${matchers.map(printMatcher).join(', ')}}`;
}

/** Prints one stage with its leading operator or pipe. */
export function printStage(stage: Stage): string {
  switch (stage.kind) {
    case 'line-filter':
      return printLineFilter(stage);
    case 'json':
      return `| json${printParams(stage.params)}`;
    case 'logfmt': {
      const strict = stage.strict ? ' --strict' : '';
      const keepEmpty = stage.keepEmpty ? ' --keep-empty' : '';
      return `| logfmt${strict}${keepEmpty}${printParams(stage.params)}`;
    }
    case 'regexp':
      return `| regexp ${quoteGo(stage.pattern)}`;
    case 'pattern':
      return `| pattern ${quoteGo(stage.pattern)}`;
    case 'unpack':
      return '| unpack';
    case 'decolorize':
      return '| decolorize';
    case 'label-filter':
      return `| ${printLabelFilter(stage.filter)}`;
    case 'line-format':
      return `| line_format ${quoteGo(stage.template)}`;
    case 'label-format': {
      const list = stage.assignments.map(
        (made) => `${made.name}=${made.kind === 'rename' ? made.source : quoteGo(made.template)}`,
      );
      return `| label_format ${list.join(',')}`;
    }
    case 'drop':
    case 'keep':
      return `| ${stage.kind} ${stage.items.map(printItem).join(',')}`;
  }
}

function printLineFilter({ op, alternatives }: LineFilterStage): string {
  const terms = alternatives.map(({ kind, value }) =>
    kind === 'ip' ? `ip(${quoteGo(value)})` : quoteGo(value),
  );
  return `${op} ${terms.join(' or ')}`;
}

function printParams(params: readonly ParserParam[]): string {
  const list = params.map(({ name, path }) => `${name}=${quoteGo(path)}`).join(',');
  return list === '' ? '' : ` ${list}`;
}

function printItem({ name, matcher }: LabelItem): string {
  return matcher === undefined ? name : printMatcher(matcher);
}

/** The unwrap stage and the filters after it, one text each. */
export function printUnwrap({ name, conversion, filters }: Unwrap): readonly string[] {
  const value = conversion === undefined ? name : `${conversion}(${name})`;
  return [`| unwrap ${value}`, ...filters.map(printStage)];
}

/** Loki joins adjacent line filters into one stage: they are printed on one line and named together in errors. */
export function groupStages(stages: readonly Stage[]): readonly (readonly Stage[])[] {
  const groups: Stage[][] = [];
  let before: Stage | undefined;
  for (const stage of stages) {
    const group = groups.at(-1);
    if (group !== undefined && stage.kind === 'line-filter' && before?.kind === 'line-filter')
      group.push(stage);
    else groups.push([stage]);
    before = stage;
  }
  return groups;
}

export function printStages(stages: readonly Stage[]): string {
  return stages.map(printStage).join(' ');
}
