/** A pipeline file in the style of the shipped ones, parsed line by line, so that changes can target specific lines. */
import { definitionsOf, type OptionDefinition, type OptionSchema } from '../../core/kernel/options/index.js';

/** A line with a key. Line numbers start at 0. */
export interface KeyLine {
  readonly line: number;
  readonly indent: number;
  readonly isItem: boolean;
  readonly key: string;
  /** The value without the comment; empty if it is on the following lines. */
  readonly value: string;
  /** The section or list that contains the line; the key itself at the top level. */
  readonly part: string;
  /** `use` of the entry that contains the line. */
  readonly use: string | undefined;
  /** The option that the line sets; undefined for the frame of the file. */
  readonly option: OptionDefinition | undefined;
}

/** An entry of a list: its first line, and the line after its last. */
export interface EntryLines {
  readonly list: string;
  readonly use: string;
  readonly from: number;
  readonly to: number;
}

const keyForm = /^( *)(- )?([A-Za-z]\w*):(?: (.*))?$/;
export const lists: readonly string[] = ['stages', 'endpoints', 'services'];

export class PipelineLines {
  readonly lines: readonly string[];
  readonly keys: readonly KeyLine[];
  readonly entries: readonly EntryLines[];

  constructor(
    text: string,
    readonly schemas: ReadonlyMap<string, OptionSchema>,
  ) {
    this.lines = text.replace(/\n$/, '').split('\n');
    this.keys = this.#readKeys();
    const uses = this.keys.filter(({ isItem, key }) => isItem && key === 'use');
    this.entries = uses.map(({ part, line, value }) => {
      const next = this.keys.find((key) => key.line > line && (key.isItem || key.indent === 0));
      const to = next?.line ?? this.lines.length;
      return { list: part, use: value, from: line, to: this.#withoutTail(line, to) };
    });
  }

  get options(): readonly (KeyLine & { readonly option: OptionDefinition })[] {
    return this.keys.filter(
      (key): key is KeyLine & { readonly option: OptionDefinition } => key.option !== undefined,
    );
  }

  entry(use: string): EntryLines | undefined {
    return this.entries.find((entry) => entry.use === use);
  }

  /** The text with some lines replaced. */
  splice(from: number, count: number, ...added: readonly string[]): string {
    return textOf([...this.lines.slice(0, from), ...added, ...this.lines.slice(from + count)]);
  }

  /** The text with one line replaced. */
  replace(line: number, change: (before: string) => string): string {
    return this.splice(line, 1, change(this.lines[line] ?? ''));
  }

  /** The text with another value for a key; its comment stays. */
  withValue({ line, value }: KeyLine, changed: string): string {
    return this.replace(line, (before) => before.replace(`: ${value}`, `: ${changed}`));
  }

  optionsOf(owner: string): readonly OptionDefinition[] {
    const schema = this.schemas.get(owner);
    return schema === undefined ? [] : definitionsOf(owner, schema);
  }

  #readKeys(): readonly KeyLine[] {
    const keys: KeyLine[] = [];
    let part = '';
    let use: string | undefined;
    for (const [line, text] of this.lines.entries()) {
      const match = keyForm.exec(text);
      if (match === null) continue;
      const [, spaces = '', dash, key = '', rest = ''] = match;
      const value = rest.replace(/(?:^| +)#.*$/, '').trim();
      const indent = spaces.length;
      if (indent === 0) [part, use] = [key, undefined];
      else if (dash !== undefined && lists.includes(part)) use = value;
      const owner = lists.includes(part) ? (indent === 6 ? use : undefined) : indent === 2 ? part : undefined;
      const option = this.optionsOf(owner ?? '').find((known) => known.key === key);
      keys.push({ line, indent, isItem: dash !== undefined, key, value, part, use, option });
    }
    return keys;
  }

  /** The end without the blank lines and comments that belong to the next part. */
  #withoutTail(from: number, to: number): number {
    let end = to;
    while (end > from + 1 && /^\s*(?:#.*)?$/.test(this.lines[end - 1] ?? '')) end -= 1;
    return end;
  }
}

export function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
