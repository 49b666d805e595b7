import { endpointFiles } from './endpoint.js';
import { moduleOf, type KindFiles, type NewPlugin, type PluginKind } from './plugin.js';
import { serviceFiles } from './service.js';
import { stageFiles } from './stage.js';

export const kinds: Readonly<Record<PluginKind, KindFiles>> = {
  stage: stageFiles,
  endpoint: endpointFiles,
  service: serviceFiles,
};

/** The files of a working plugin, by their names in its folder. */
export function pluginFiles(plugin: NewPlugin): ReadonlyMap<string, string> {
  const { kind, language, house } = plugin;
  const { code, test, pipelineTest } = kinds[kind];
  return new Map([
    ['package.json', json(manifest(plugin))],
    ...(language === 'ts' ? [['tsconfig.json', json(compilerOptions)] as const] : []),
    [`index.${language}`, code(plugin)],
    [`index.test.${language}`, test(plugin)],
    ['pipeline.yaml', pipeline(plugin)],
    [
      'pipeline.test.yaml',
      `${schemaLine(house.name, 'pipeline-test')}pipeline: pipeline.yaml\n${pipelineTest(plugin)}`,
    ],
    ['README.md', readme(plugin)],
    ['.gitignore', 'node_modules/\ndist/\n'],
  ]);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function manifest(plugin: NewPlugin): object {
  const { packageName, kind, language, house, link } = plugin;
  const entry = moduleOf(plugin);
  const isTypeScript = language === 'ts';
  const tests = `node --test ${isTypeScript ? 'dist/' : ''}index.test.js && ref-proxy test .`;
  const forDevelopment = {
    ...(link === undefined ? {} : { [house.name]: link }),
    ...(isTypeScript ? { '@types/node': '>=20', typescript: '>=5.6' } : {}),
  };
  return {
    name: packageName,
    version: '0.1.0',
    description: sentence(`${kinds[kind].title} of ref-proxy`),
    type: 'module',
    exports: isTypeScript ? { types: './dist/index.d.ts', default: entry } : entry,
    files: isTypeScript ? ['dist', '!dist/*.test.*'] : ['index.js'],
    scripts: {
      ...(isTypeScript ? { build: 'tsc', prepack: 'tsc' } : {}),
      check: 'ref-proxy check pipeline.yaml',
      test: isTypeScript ? `tsc && ${tests}` : tests,
    },
    peerDependencies: { [house.name]: `>=${house.version}` },
    // Optional, because npm would otherwise fetch the peer from the registry, from whoever owns the name there. The site has installed it.
    peerDependenciesMeta: { [house.name]: { optional: true } },
    ...(Object.keys(forDevelopment).length === 0 ? {} : { devDependencies: forDevelopment }),
  };
}

const compilerOptions = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    verbatimModuleSyntax: true,
    declaration: true,
    rootDir: '.',
    outDir: 'dist',
    types: ['node'],
  },
  include: ['*.ts'],
};

/** The line by which editors find the schema of a file. */
function schemaLine(house: string, schema: string): string {
  return `# yaml-language-server: $schema=node_modules/${house}/schemas/${schema}.schema.json\n`;
}

function pipeline(plugin: NewPlugin): string {
  const { kind, house } = plugin;
  const { list, options } = kinds[kind];
  const entry = [
    `  - use: ${moduleOf(plugin)}`,
    '    with:',
    ...options.map((line) => `      ${line}`),
    '',
  ].join('\n');
  return `${schemaLine(house.name, 'pipeline')}version: 1
stages:
  - use: tenancy
${list === 'stages' ? entry : ''}  - use: translate
  - use: backend
    with:
      url: \${BACKEND_URL:-http://localhost:9428}
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
${list === 'endpoints' ? entry : ''}${list === 'services' ? `services:\n${entry}` : ''}`;
}

function readme(plugin: NewPlugin): string {
  const { packageName, kind, language, house } = plugin;
  const { title, list } = kinds[kind];
  return `# ${packageName}

${sentence(title)} of ref-proxy.

    npm install          # once; ${house.name} itself is not fetched, but found in this folder or one above it
    ${language === 'ts' ? 'npm run build\n    ' : ''}npm test
    npx --no ref-proxy check pipeline.yaml
    npx --no ref-proxy serve -pipeline=pipeline.yaml

\`pipeline.test.yaml\` says what comes of requests, \`index.test.${language}\` tests the code. \`npm pack\` makes a package; where it is installed,
the pipeline file names it by name:

    ${list}:
      - use: '${packageName}'
`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
