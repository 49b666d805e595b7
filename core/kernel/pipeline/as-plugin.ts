import type { Plugin } from '../plugin/contract.js';
import { declarationFault } from './declarations.js';

export type AsPlugin =
  | { readonly kind: 'plugin'; readonly plugin: Plugin }
  | { readonly kind: 'no-plugin'; readonly reason: string; readonly fix: string };

const define =
  'export default defineStage({...}), defineEndpoint({...}) or defineService({...}) of ref-proxy/plugin';
const declare = 'docs/plugins.md shows how metrics and routes are declared';
const restUses: ReadonlySet<unknown> = new Set(['never', 'once', 'maybe', 'many']);

/** Narrows a module's default export to a plugin, or says what it lacks. */
export function asPlugin(exported: unknown): AsPlugin {
  if (typeof exported !== 'object' || exported === null) {
    return { kind: 'no-plugin', reason: 'has no default export that is a plugin', fix: define };
  }
  const parts = new Map<string, unknown>(Object.entries(exported));
  const lacks = missingPart(parts);
  if (lacks !== undefined) return { kind: 'no-plugin', reason: `exports no plugin: ${lacks}`, fix: define };
  const fault = declarationFault(parts);
  if (fault !== undefined)
    return { kind: 'no-plugin', reason: `declares what cannot be: ${fault}`, fix: declare };
  // Every part that the loader, the checker and the kernel use was checked; options and slots are up to the plugin.
  return { kind: 'plugin', plugin: exported as Plugin };
}

function missingPart(parts: ReadonlyMap<string, unknown>): string | undefined {
  const kind = parts.get('kind');
  if (kind !== 'stage' && kind !== 'endpoint' && kind !== 'service')
    return 'its kind is not stage, endpoint or service';
  const name = parts.get('name');
  if (typeof name !== 'string' || name === '') return 'it has no name';
  if (typeof parts.get('create') !== 'function') return 'it has no create function';
  const schema = parts.get('schema');
  if (schema !== undefined && (typeof schema !== 'object' || schema === null))
    return 'its schema is not an object';
  if (kind !== 'stage') return undefined;
  if (!isTextList(parts.get('needs'))) return 'it does not list the slots it needs';
  if (!isTextList(parts.get('gives'))) return 'it does not list the slots it gives';
  return restUses.has(parts.get('rest')) ? undefined : 'rest is not never, once, maybe or many';
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
