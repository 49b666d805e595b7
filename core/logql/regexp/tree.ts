import type { CharSet } from './char-set.js';

/** A pattern in the part of RE2's syntax that the fast engines know. */
export type RegExpNode =
  | CharsNode
  | { readonly kind: 'assert'; readonly test: 'begin' | 'end' | 'word' | 'not-word' }
  | { readonly kind: 'concat'; readonly items: readonly RegExpNode[] }
  | { readonly kind: 'alternate'; readonly items: readonly RegExpNode[] }
  | { readonly kind: 'group'; readonly captures: boolean; readonly item: RegExpNode }
  | RepeatNode;

/** One code point out of a set; `folded` when the set came about by ignoring case. */
export interface CharsNode {
  readonly kind: 'chars';
  readonly set: CharSet;
  readonly folded: boolean;
  /** A class written as such, though it may hold one code point only. */
  readonly isClass: boolean;
}

export interface RepeatNode {
  readonly kind: 'repeat';
  readonly item: RegExpNode;
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
}
