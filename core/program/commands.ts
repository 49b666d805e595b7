import type { Command } from './io.js';

/**
 * Every command of the program, in the order of the help. Each is loaded when it runs: starting the proxy should not load the checker's
 * formats.
 */
export const commands: readonly Command[] = [
  {
    name: 'serve',
    summary: 'run the proxy (default pipeline: pipelines/reference-compatible.yaml)',
    run: async (args, io) => (await import('./serve.js')).serve(args, io),
  },
  {
    name: 'demo',
    summary: 'run the proxy with an embedded backend and sample logs',
    run: async (args, io) => (await import('../tools/demo-command.js')).demo(args, io),
  },
  {
    name: 'backend',
    summary: 'run only the embedded development backend',
    run: async (args, io) => (await import('../../plugins/embedded-backend/command.js')).backend(args, io),
  },
  {
    name: 'healthcheck',
    summary: 'check that a running proxy is ready: exit status 0 or 1',
    run: async (args, io) => (await import('./healthcheck-command.js')).healthcheck(args, io),
  },
  {
    name: 'check',
    summary: 'check pipeline files: check FILE...',
    run: async (args, io) => (await import('../tools/check.js')).runCheck(args, io),
  },
  {
    name: 'test',
    summary: 'run tests of pipeline files: test FILE...',
    run: async (args, io) => (await import('../tools/test-command.js')).test(args, io),
  },
  {
    name: 'new',
    summary: 'create a working plugin: new plugin NAME',
    run: async (args, io) => (await import('../tools/new-command.js')).newThing(args, io),
  },
  {
    name: 'fmt',
    summary: 'format pipeline files in place: fmt FILE... (-check only lists unformatted files)',
    run: async (args, io) => (await import('../tools/fmt.js')).fmt(args, io),
  },
  {
    name: 'graph',
    summary: 'show a pipeline as text, Mermaid or SVG: graph -pipeline=FILE',
    run: async (args, io) => (await import('../tools/graph-command.js')).graph(args, io),
  },
  {
    name: 'migrate',
    summary: 'convert flags to an equivalent pipeline file: migrate -- FLAGS...',
    run: async (args, io) => (await import('../tools/migrate.js')).migrate(args, io),
  },
  {
    name: 'format',
    summary: "print a formatted LogQL query: format 'QUERY'",
    run: async (args, io) => (await import('../tools/format.js')).format(args, io),
  },
  {
    name: 'parse',
    summary: "print the syntax tree of a LogQL query: parse --json 'QUERY'",
    run: async (args, io) => (await import('../tools/format.js')).parse(args, io),
  },
  {
    name: 'explain',
    summary: "print the plan of a LogQL query and its backend queries: explain 'QUERY'",
    run: async (args, io) => (await import('../tools/explain.js')).explain(args, io),
  },
  {
    name: 'compare',
    summary: 'send the queries of files to two Loki APIs and compare the answers: compare FILE...',
    run: async (args, io) => (await import('../tools/compare/command.js')).compareCommand(args, io),
  },
  {
    name: 'audit',
    summary: 'explain the queries of files and how to write them cheaper: audit FILE...',
    run: async (args, io) => (await import('../tools/audit/command.js')).auditCommand(args, io),
  },
  {
    name: 'rules',
    summary: 'convert rules of a Loki ruler for vmalert: rules convert FILE...',
    run: async (args, io) => (await import('../tools/rules/command.js')).rulesCommand(args, io),
  },
  {
    name: 'flags',
    summary: 'print every flag with its default and description: flags [WORD] searches them',
    run: async (args, io) => (await import('../tools/flags-command.js')).flags(args, io),
  },
];
