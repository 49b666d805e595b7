import type { CharSet } from './char-set.js';

/** The subset of RE2's syntax that the fast engines support. */
export type RegExpNode =
  | CharsNode
  | { readonly kind: 'assert'; readonly test: 'begin' | 'end' | 'word' | 'not-word' }
  | { readonly kind: 'concat'; readonly items: readonly RegExpNode[] }
  | { readonly kind: 'alternate'; readonly items: readonly RegExpNode[] }
  | { readonly kind: 'group'; readonly captures: boolean; readonly item: RegExpNode }
  | RepeatNode;

/** One code point of a set; `folded` when ignoring case produced the set. */
export interface CharsNode {
  readonly kind: 'chars';
  readonly set: CharSet;
  readonly folded: boolean;
  /** Written as a class, even if it has only one code point. */
  readonly isClass: boolean;
}

export interface RepeatNode {
  readonly kind: 'repeat';
  readonly item: RegExpNode;
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
}
