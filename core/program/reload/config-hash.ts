import { createHash } from 'node:crypto';
import type { StaticDescription } from '../../kernel/describe.js';
import { builtInDefinitions } from '../../kernel/options/index.js';

/** Flags that each replica has its own value of: who it is and where it listens. */
const ofOneReplica: ReadonlySet<string> = new Set([
  'listen',
  'admin-listen',
  'metrics-listen',
  'peer-self',
  'peer-self-az',
  'otel-service-instance-id',
]);

/**
 * A pipeline as 16 hex digits: plugins in their order, with all options in effect, wherever they come from. Left out are values of secrets,
 * since the hash is public, and what differs between replicas that do the same: addresses, names of their own, files that they write.
 */
export function configHash({ sections, stages, endpoints, services }: StaticDescription): string {
  const written = new Set(
    builtInDefinitions().flatMap(({ fileUse, flag }) => (fileUse === 'write' ? flag : [])),
  );
  const lists = [sections, stages, endpoints, services].map((parts) =>
    parts.map(({ name, options, ...part }) => [
      name,
      'id' in part ? part.id : null,
      options
        .filter(({ flag }) => flag === undefined || !(ofOneReplica.has(flag) || written.has(flag)))
        .map(({ key, value, isSecret, isSet }) => [key, isSecret ? isSet : (value ?? null)]),
    ]),
  );
  return createHash('sha256').update(JSON.stringify(lists)).digest('hex').slice(0, 16);
}
