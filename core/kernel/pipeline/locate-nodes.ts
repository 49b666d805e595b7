import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type ParsedNode,
  Scalar,
  type YAMLMap,
} from 'yaml';
import type { Environment } from '../options/index.js';
import type { LocatedEntry, LocatedNode, LocatedScalar, Locator, YamlProblem } from './located.js';
import type { SourcePosition } from './types.js';

/** Maximum number of nodes of a pipeline after aliases are expanded, against files with exponential aliases. */
const maxNodes = 20_000;

/** Converts a parsed document to nodes with positions: aliases expanded, environment references resolved, duplicate keys found. */
export function locateNodes(
  document: Document.Parsed,
  contents: ParsedNode,
  locator: Locator,
  env: Environment,
): { readonly root: LocatedNode; readonly problems: readonly YamlProblem[] } {
  const walk = new Walk(document, locator, env);
  return { root: walk.node(contents, locator.at(0, 1)), problems: walk.problems };
}

class Walk {
  readonly problems: YamlProblem[] = [];
  readonly #document: Document.Parsed;
  readonly #locator: Locator;
  readonly #env: Environment;
  readonly #open = new Set<Node>();
  #nodes = 0;

  constructor(document: Document.Parsed, locator: Locator, env: Environment) {
    this.#document = document;
    this.#locator = locator;
    this.#env = env;
  }

  /** @param near position for a node without text, as in `key:` */
  node(node: unknown, near: SourcePosition): LocatedNode {
    this.#nodes += 1;
    if (this.#nodes > maxNodes) {
      if (this.#nodes === maxNodes + 1) this.#report('feature', near, `has more than ${maxNodes} values`);
      return unknownAt(near);
    }
    if (isAlias(node)) {
      const at = this.#at(node, near);
      const target = node.resolve(this.#document);
      if (target !== undefined && !this.#open.has(target)) return this.node(target, at);
      const fault = target === undefined ? 'has no anchor' : 'contains itself';
      return this.#unknown('feature', at, `alias "*${node.source}" ${fault}`);
    }
    if (isScalar(node)) return this.#scalar(node, near);
    if (!isMap(node) && !isSeq(node)) return { kind: 'scalar', at: near, value: null };
    const at = this.#at(node, near);
    this.#open.add(node);
    const located: LocatedNode = isMap(node)
      ? { kind: 'map', at, entries: this.#entries(node) }
      : { kind: 'list', at, items: node.items.map((item) => this.node(item, this.#dashOf(item, at))) };
    this.#open.delete(node);
    return located;
  }

  /** The position of an item without text: its dash. */
  #dashOf(item: unknown, near: SourcePosition): SourcePosition {
    const range = isScalar(item) ? item.range : undefined;
    return range === undefined || range === null
      ? near
      : this.#locator.at(Math.max(0, range[0] - 1), range[0]);
  }

  #entries(map: YAMLMap): LocatedEntry[] {
    const first = new Map<string, SourcePosition>();
    const entries: LocatedEntry[] = [];
    for (const pair of map.items) {
      const entry = this.#entry(pair, map);
      if (entry === undefined) continue;
      const before = first.get(entry.key);
      if (before === undefined) {
        first.set(entry.key, entry.keyAt);
        entries.push(entry);
        continue;
      }
      const fix = `remove one; the first is on line ${before.line}`;
      this.#report('duplicate-key', entry.keyAt, `duplicate key "${entry.key}"`, fix);
    }
    return entries;
  }

  #entry(pair: Pair, map: YAMLMap): LocatedEntry | undefined {
    const keyAt = this.#at(pair.key, this.#at(map, { file: '', line: 1, column: 1, length: 1 }));
    if (!isScalar(pair.key)) {
      this.#report('feature', keyAt, 'a key must be plain text');
      return undefined;
    }
    const key =
      typeof pair.key.value === 'string' ? pair.key.value : (pair.key.source ?? String(pair.key.value));
    if (key === '<<') {
      const fix = 'write the options out, or alias a whole value';
      this.#report('feature', keyAt, 'merge keys (<<) are not supported', fix);
      return undefined;
    }
    return { key, keyAt, value: this.node(pair.value, keyAt) };
  }

  #scalar(node: Scalar, near: SourcePosition): LocatedScalar {
    const range = node.range;
    const hasText = range !== undefined && range !== null && range[1] > range[0];
    const at = hasText ? this.#at(node, near) : near;
    const { value, type = Scalar.PLAIN } = node;
    if (typeof value === 'string') return this.#text(value, at, type !== Scalar.PLAIN);
    return {
      kind: 'scalar',
      at,
      value: typeof value === 'number' || typeof value === 'boolean' ? value : null,
    };
  }

  /** @param isQuoted true for quoted and block scalars; only the type of plain text may change */
  #text(text: string, at: SourcePosition, isQuoted: boolean): LocatedScalar {
    const read = readEnvText(text);
    switch (read.kind) {
      case 'text':
        return { kind: 'scalar', at, value: read.value };
      case 'bad': {
        const [message, fix] = badReferences[read.reason];
        return this.#unknown('reference', at, message, fix);
      }
      case 'reference': {
        const value = resolveReference(read, this.#env);
        if (value !== undefined) return { kind: 'scalar', at, value: isQuoted ? value : typeScalar(value) };
        const fix = `set ${read.name}, or add a default: \${${read.name}:-value}`;
        const message = `environment variable "${read.name}" is not set and the reference has no default`;
        return this.#unknown('reference', at, message, fix);
      }
    }
  }

  #at(node: unknown, near: SourcePosition): SourcePosition {
    const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : undefined;
    return range === undefined || range === null ? near : this.#locator.at(range[0], range[1]);
  }

  #report(kind: YamlProblem['kind'], at: SourcePosition, message: string, fix?: string): void {
    this.problems.push({ kind, at, message, fix });
  }

  /** Reports why a value is unknown. */
  #unknown(kind: YamlProblem['kind'], at: SourcePosition, message: string, fix?: string): LocatedScalar {
    this.#report(kind, at, message, fix);
    return unknownAt(at);
  }
}

function unknownAt(at: SourcePosition): LocatedScalar {
  return { kind: 'scalar', at, value: null, isUnknown: true };
}

const badReferences = {
  'part-of-value': [
    'an environment reference must be the whole value',
    'put the whole value into one variable, or write $${ for a literal ${',
  ],
  'bad-name': [
    'an environment reference is ${NAME} or ${NAME:-default}, NAME of letters, digits and underscores',
    'correct the name, or write $${ for a literal ${',
  ],
} as const;

/** A text of a pipeline file that may refer to the environment. */
type EnvText =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'reference'; readonly name: string; readonly fallback?: string }
  /** `${` that is neither a whole reference nor escaped. */
  | { readonly kind: 'bad'; readonly reason: keyof typeof badReferences };

const whole = /^\$\{([^}:]*)(?::-(.*))?\}$/s;
const name = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Parses `${NAME}` and `${NAME:-default}`; `$${` is a literal `${`. A reference must be the whole value. */
export function readEnvText(text: string): EnvText {
  if (!/(^|[^$])\$\{/.test(text)) return { kind: 'text', value: text.replaceAll('$${', '${') };
  const match = whole.exec(text);
  // A brace inside the default would make two references look like one: `${A:-x}-${B}`.
  if (match === null || match[2]?.includes('}') === true) return { kind: 'bad', reason: 'part-of-value' };
  const [, variable = '', fallback] = match;
  if (!name.test(variable)) return { kind: 'bad', reason: 'bad-name' };
  return fallback === undefined
    ? { kind: 'reference', name: variable }
    : { kind: 'reference', name: variable, fallback };
}

/** The value of a reference: the variable, or the default if it is unset or empty; undefined if there is neither. */
export function resolveReference(
  reference: { readonly name: string; readonly fallback?: string },
  env: Environment,
): string | undefined {
  const value = Object.hasOwn(env, reference.name) ? env[reference.name] : undefined;
  if (reference.fallback !== undefined && (value === undefined || value === '')) return reference.fallback;
  return value;
}

/** Types a text like a plain YAML scalar (core schema). Empty text stays text: an empty variable is not a missing value. */
export function typeScalar(text: string): string | number | boolean | null {
  if (/^(?:~|null|Null|NULL)$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?[0-9]+$/.test(text)) return Number.parseInt(text, 10);
  if (/^0o[0-7]+$/.test(text)) return Number.parseInt(text.slice(2), 8);
  if (/^0x[0-9a-fA-F]+$/.test(text)) return Number.parseInt(text.slice(2), 16);
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text))
    return Number.parseFloat(text);
  return text;
}
