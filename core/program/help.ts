import {
  builtInDefinitions,
  helpText,
  type CommandFlag,
  type OptionDefinition,
} from '../kernel/options/index.js';

/** Flags shown in the short help of serving, in the order of their sections; `-help=all` shows all. */
const mostUsed: ReadonlySet<string> = new Set([
  'listen',
  'admin-listen',
  'backend',
  'workers',
  'tenant-map-file',
  'require-tenant-header',
  'max-concurrent',
  'default-max-query-length',
  'cache-max-bytes',
  'disk-cache-path',
  'log-level',
  'server.register-instrumentation',
]);

const usual = [
  'The most used flags of serve and demo:',
  '  -pipeline=FILE           the pipeline file to run',
  '  -backend=URL             your VictoriaLogs, such as http://127.0.0.1:9428',
  '  -listen=ADDRESS          address for clients such as Grafana; default :3100',
  '  -admin-listen=ADDRESS    address of the page /ui and of /debug; default 127.0.0.1:3101',
  '  -tenant-map-file=FILE    backend accounts by X-Scope-OrgID',
  '  -disk-cache-path=FILE    disk cache, which keeps answers across restarts',
  '  -log-level=LEVEL         debug, info, warn or error',
];

const examples = [
  'Examples:',
  '  ref-proxy serve -backend=http://127.0.0.1:9428 -listen=127.0.0.1:3100',
  '  ref-proxy demo -listen=:3200',
  '  ref-proxy check my-pipeline.yaml',
  '  ref-proxy explain \'{app="shop"} |= "error" | json\'',
];

/** The text of the program's `-help`, which fits on a screen. */
export function programHelp(
  commands: readonly { readonly name: string; readonly summary: string }[],
): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'ref-proxy: Loki’s read API on top of VictoriaLogs',
    '',
    'Usage: ref-proxy <command> [flags]      flags without a command mean serve',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    ...usual,
    '',
    ...examples,
    '',
    'ref-proxy <command> -help shows the flags of a command, -help=all every flag, -version the version.',
    '',
  ].join('\n');
}

/** Detects a request for the help of all flags, and removes it from the command line. */
export function takeHelpAll(args: readonly string[]): {
  readonly args: readonly string[];
  readonly isAll: boolean;
} {
  const isAsked = (arg: string): boolean => /^--?help=all$/.test(arg);
  return { args: args.map((arg) => (isAsked(arg) ? '-help' : arg)), isAll: args.some(isAsked) };
}

/** The help of a serving command: the most used flags and those of a site's own plugins, or all flags. */
export async function servingHelp(
  definitions: readonly OptionDefinition[],
  command: string,
  own: readonly CommandFlag[],
  isAll: boolean,
): Promise<string> {
  const builtIn = new Set(builtInDefinitions().map(({ flag }) => flag));
  const shown = isAll
    ? definitions
    : definitions.filter(({ flag = '' }) => mostUsed.has(flag) || !builtIn.has(flag));
  const rest = definitions.filter(({ flag }) => flag !== undefined).length - shown.length;
  const text = await helpText(shown, {
    usage: `Usage: ref-proxy ${command} [flags]`,
    own,
    ...(isAll
      ? {}
      : {
          epilogue: `${rest} more: ref-proxy ${command} -help=all; ref-proxy flags WORD searches flags`,
        }),
  });
  return `${text}\n`;
}
