import { formatFloatShort } from '../../../base/time/index.js';
import { formatLimits, type FormatLimit } from '../exec/limits.js';
import { joined } from '../../values/raw-bytes.js';
import { concrete, type GoValue } from '../values/value.js';
import { plainDirective } from './directive.js';
import { Sink } from './sink.js';
import { ValuePrinter } from './value.js';

/** Go's fmt.Sprint: a space between two arguments unless one of them is a string. */
export function sprint(args: readonly GoValue[]): string {
  const sink = new Sink(formatLimits.functionOutput, 'print input');
  const printer = new ValuePrinter(sink, plainDirective);
  let isAfterString = true;
  args.forEach((arg) => {
    const isString = typeof concrete(arg) === 'string';
    if (!isString && !isAfterString) sink.add(' ');
    printer.argument(arg, 'v');
    isAfterString = isString;
  });
  return joined(sink.text);
}

/** Go's fmt.Sprintln. */
export function sprintln(args: readonly GoValue[]): string {
  const sink = new Sink(formatLimits.functionOutput, 'print input');
  const printer = new ValuePrinter(sink, plainDirective);
  args.forEach((arg, index) => {
    if (index > 0) sink.add(' ');
    printer.argument(arg, 'v');
  });
  sink.add('\n');
  return joined(sink.text);
}

/** How an action prints its value. */
export function printed(boxed: GoValue, limit: FormatLimit): string {
  const value = concrete(boxed);
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return formatFloatShort(value);
    case 'boolean':
      return String(value);
    case 'undefined':
      return '<no value>';
    case 'object': {
      const sink = new Sink(formatLimits.output, limit);
      new ValuePrinter(sink, plainDirective).argument(value, 'v');
      return sink.text;
    }
  }
}
