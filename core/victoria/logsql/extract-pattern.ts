import { LogsqlError } from './errors.js';

/** One step of `text<field>text<option:field>`: the text before a field, and the field ('' if it is not wanted). */
export interface PatternStep {
  readonly prefix: string;
  readonly field: string;
  readonly option: string;
}

const entities: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

function unescapeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([a-z]+));/g,
    (all, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return entities.get(name) ?? all;
      const code = decimal === undefined ? Number.parseInt(hex ?? '0', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
}

/**
 * Splits the pattern of `format` into steps; `<_>` and `<*>` are fields without a name.
 * @throws LogsqlError for a `<` without `>`
 */
export function parseFormatPattern(pattern: string): PatternStep[] {
  const steps: PatternStep[] = [];
  let rest = pattern;
  while (rest !== '') {
    const open = rest.indexOf('<');
    if (open < 0) {
      steps.push({ prefix: unescapeEntities(rest), field: '', option: '' });
      break;
    }
    const close = rest.indexOf('>', open);
    if (close < 0) throw new LogsqlError(`missing '>' for ${rest.slice(open)}`);
    const inner = rest.slice(open + 1, close);
    const colon = inner.indexOf(':');
    const name = (colon < 0 ? inner : inner.slice(colon + 1)).trim();
    if (name.length > 1 && name.endsWith('*'))
      throw new LogsqlError(`wildcard field ${JSON.stringify(name)} isn't supported`);
    steps.push({
      prefix: unescapeEntities(rest.slice(0, open)),
      field: inner === '_' || inner === '*' ? '' : name,
      option: colon < 0 ? '' : inner.slice(0, colon).trim(),
    });
    rest = rest.slice(close + 1);
  }
  return steps;
}

/**
 * Splits the pattern of `extract` into steps.
 * @throws LogsqlError when it names no field or two fields are adjacent
 */
export function parseExtractPattern(pattern: string): PatternStep[] {
  const steps = parseFormatPattern(pattern);
  for (const [index, step] of steps.entries()) {
    if (index > 0 && step.prefix === '') {
      throw new LogsqlError(
        `missing delimiter between <${steps[index - 1]?.field ?? ''}> and <${step.field}>`,
      );
    }
  }
  if (steps.some((step) => step.field !== '')) return steps;
  throw new LogsqlError(
    `pattern ${JSON.stringify(pattern)} must contain at least a single named field in the form <field_name>`,
  );
}
