import { Memo } from '../../../base/memory/byte-lru.js';
export type LayoutField =
  | 'longMonth'
  | 'month'
  | 'numMonth'
  | 'zeroMonth'
  | 'longWeekDay'
  | 'weekDay'
  | 'day'
  | 'underDay'
  | 'zeroDay'
  | 'underYearDay'
  | 'zeroYearDay'
  | 'hour'
  | 'hour12'
  | 'zeroHour12'
  | 'minute'
  | 'zeroMinute'
  | 'second'
  | 'zeroSecond'
  | 'longYear'
  | 'year'
  | 'PM'
  | 'pm'
  | 'zoneName';

/** Format of an offset from UTC. */
export interface OffsetLayout {
  readonly kind: 'offset';
  /** True if UTC is written as `Z`. */
  readonly hasZ: boolean;
  readonly hasColons: boolean;
  /** Number of components: hours, minutes, seconds. */
  readonly parts: 1 | 2 | 3;
}

/** Fractional digits of the second; trailing zeros are dropped when trimmed. */
export interface FractionLayout {
  readonly kind: 'fraction';
  readonly separator: string;
  readonly digits: number;
  readonly isTrimmed: boolean;
}

export type LayoutElement = { readonly kind: LayoutField } | OffsetLayout | FractionLayout;

/** A layout as alternating texts and elements: `texts` has one more item than `elements`. */
export interface Layout {
  readonly texts: readonly string[];
  readonly elements: readonly LayoutElement[];
}

// As in Go, the order of alternatives decides between elements with the same start.
const pattern = new RegExp(
  [
    'January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST',
    '0[1-6]|002|15|1|2006|2|_2|__2|3|4|5|PM|pm',
    '[-Z](?:070000|07:00:00|0700|07:00|07)',
    '[.,](?:0+|9+)(?![0-9])',
  ].join('|'),
  'g',
);

const fields: ReadonlyMap<string, LayoutField> = new Map<string, LayoutField>([
  ['January', 'longMonth'],
  ['Jan', 'month'],
  ['1', 'numMonth'],
  ['01', 'zeroMonth'],
  ['Monday', 'longWeekDay'],
  ['Mon', 'weekDay'],
  ['2', 'day'],
  ['_2', 'underDay'],
  ['02', 'zeroDay'],
  ['__2', 'underYearDay'],
  ['002', 'zeroYearDay'],
  ['15', 'hour'],
  ['3', 'hour12'],
  ['03', 'zeroHour12'],
  ['4', 'minute'],
  ['04', 'zeroMinute'],
  ['5', 'second'],
  ['05', 'zeroSecond'],
  ['2006', 'longYear'],
  ['06', 'year'],
  ['PM', 'PM'],
  ['pm', 'pm'],
  ['MST', 'zoneName'],
]);

const longestKept = 255;
const kept = new Memo<string, Layout>(256, split);

/** Splits a Go time layout into its elements; short layouts are cached, because every line uses the same ones. */
export function readLayout(layout: string): Layout {
  return layout.length > longestKept ? split(layout) : kept.get(layout);
}

function split(layout: string): Layout {
  const texts: string[] = [];
  const elements: LayoutElement[] = [];
  let from = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(layout); match !== null; match = pattern.exec(layout)) {
    let [source] = match;
    let at = match.index;
    if (source === '_2' && layout.startsWith('2006', at + 1)) {
      // Before a year, the underscore is literal.
      at += 1;
      source = '2006';
    }
    texts.push(layout.slice(from, at));
    elements.push(elementOf(source));
    from = at + source.length;
    pattern.lastIndex = from;
  }
  texts.push(layout.slice(from));
  return { texts, elements };
}

function elementOf(source: string): LayoutElement {
  const field = fields.get(source);
  if (field !== undefined) return { kind: field };
  const first = source.charAt(0);
  if (first === '.' || first === ',') {
    const isTrimmed = source.charAt(1) === '9';
    return { kind: 'fraction', separator: first, digits: source.length - 1, isTrimmed };
  }
  const digits = source.replaceAll(/[^0-9]/g, '').length;
  const parts = digits === 2 ? 1 : digits === 4 ? 2 : 3;
  return { kind: 'offset', hasZ: first === 'Z', hasColons: source.includes(':'), parts };
}
