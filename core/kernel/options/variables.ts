import { suggest } from './suggest.js';

const prefix = 'REF_PROXY_';

/** Environment variables, as in process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variable of a flag: that of `-server.admin-auth-token` is `REF_PROXY_SERVER_ADMIN_AUTH_TOKEN`. */
export function variableOf(flag: string): string {
  return prefix + flag.toUpperCase().replace(/\W/g, '_');
}

/** Flags of `serve` that are not options of the pipeline file but have a variable. */
export const servingFlags = ['pipeline', 'pipeline.watch'] as const;

/** Variables that processes of this program set for each other. */
const ofProcesses: ReadonlySet<string> = new Set([
  'REF_PROXY_HEAP_FITTED',
  'REF_PROXY_PARENT',
  'REF_PROXY_WORKER',
]);

/**
 * Matches variables that Kubernetes sets in every pod for each service of the namespace, including a service named `ref-proxy` or
 * `ref-proxy-peers`.
 */
const ofKubernetes =
  /^REF_PROXY_(?:[A-Z\d_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z\d_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

/** True if Kubernetes may set this variable, so that no flag can have it. */
export function isOfKubernetes(name: string): boolean {
  return ofKubernetes.test(name);
}

/** A variable with the prefix of flags that is none of their variables. */
interface UnknownVariable {
  readonly name: string;
  /** The variable that it probably stands for. */
  readonly meant: string | undefined;
}

/** The variables that look like flags' variables but belong to no known flag. */
export function unknownVariables(env: Environment, known: Iterable<string>): readonly UnknownVariable[] {
  const names = new Set([...known, ...servingFlags.map(variableOf)]);
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name] !== undefined && !names.has(name))
    .filter((name) => !ofProcesses.has(name) && !isOfKubernetes(name))
    .sort()
    .map((name) => ({ name, meant: meantBy(name, names) }));
}

/** The variable that was probably meant. The common prefix is ignored, since it must not count as similarity. */
function meantBy(name: string, known: ReadonlySet<string>): string | undefined {
  const rests = [...known].flatMap((each) => (each.startsWith(prefix) ? [each.slice(prefix.length)] : []));
  const meant = suggest(name.slice(prefix.length), rests);
  return meant === undefined ? undefined : prefix + meant;
}
