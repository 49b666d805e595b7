import { suggest } from './suggest.js';

const prefix = 'REF_PROXY_';

/** Environment variables, as in process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variable of a flag: that of `-server.admin-auth-token` is `REF_PROXY_SERVER_ADMIN_AUTH_TOKEN`. */
export function variableOf(flag: string): string {
  return prefix + flag.toUpperCase().replace(/\W/g, '_');
}

/** Flags of `serve` that are no options of the pipeline file and have a variable all the same. */
export const servingFlags = ['pipeline', 'pipeline.watch'] as const;

/** Processes of this program set them for each other. */
const ofProcesses: ReadonlySet<string> = new Set([
  'REF_PROXY_HEAP_FITTED',
  'REF_PROXY_PARENT',
  'REF_PROXY_WORKER',
]);

/**
 * Kubernetes sets such variables in every pod for each service of the namespace, so also for one that is named `ref-proxy` or
 * `ref-proxy-peers`.
 */
const ofKubernetes =
  /^REF_PROXY_(?:[A-Z\d_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z\d_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

/** True when Kubernetes may set this variable by itself, so that no flag may have it. */
export function isOfKubernetes(name: string): boolean {
  return ofKubernetes.test(name);
}

/** A variable with the prefix of flags that belongs to none of them. */
export interface UnknownVariable {
  readonly name: string;
  /** The variable that it probably stands for. */
  readonly meant: string | undefined;
}

/** The variables that look like those of flags and belong to none of the known ones. */
export function unknownVariables(env: Environment, known: Iterable<string>): readonly UnknownVariable[] {
  const names = new Set([...known, ...servingFlags.map(variableOf)]);
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name] !== undefined && !names.has(name))
    .filter((name) => !ofProcesses.has(name) && !isOfKubernetes(name))
    .sort()
    .map((name) => ({ name, meant: meantBy(name, names) }));
}

/** The prefix is the same in all of them and must not count as likeness. */
function meantBy(name: string, known: ReadonlySet<string>): string | undefined {
  const rests = [...known].flatMap((each) => (each.startsWith(prefix) ? [each.slice(prefix.length)] : []));
  const meant = suggest(name.slice(prefix.length), rests);
  return meant === undefined ? undefined : prefix + meant;
}
