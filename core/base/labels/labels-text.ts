import { quoteGo } from '../time/go-quote.js';
import type { LabelSet } from './label-set.js';

/** A label set as Loki prints it, `{name="value", ...}`: in messages, and as the text by which it sorts streams. */
export function labelsText({ labels }: LabelSet): string {
  return `{${labels.map(([name, value]) => `${name}=${quoteGo(value)}`).join(', ')}}`;
}
