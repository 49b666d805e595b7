import { endpointCode, endpointTest, endpointTests, endpointUse } from './endpoint.js';
import { moduleOf, type NewPlugin } from './plugin.js';
import { stageCode, stageTest, stageTests, stageUse } from './stage.js';

/** The files of a plugin that works, by their names in its folder. */
export function pluginFiles(plugin: NewPlugin): ReadonlyMap<string, string> {
  const isTypeScript = plugin.language === 'ts';
  const isStage = plugin.kind === 'stage';
  return new Map([
    ['package.json', json(manifest(plugin))],
    ...(isTypeScript ? [['tsconfig.json', json(compilerOptions)] as const] : []),
    [`index.${plugin.language}`, isStage ? stageCode(plugin) : endpointCode(plugin)],
    [`index.test.${plugin.language}`, isStage ? stageTest(plugin) : endpointTest(plugin)],
    ['pipeline.yaml', pipeline(plugin)],
    ['pipeline.test.yaml', isStage ? stageTests() : endpointTests(plugin)],
    ['README.md', readme(plugin)],
    ['.gitignore', 'node_modules/\ndist/\n'],
  ]);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function manifest(plugin: NewPlugin): object {
  const { packageName, kind, language, version } = plugin;
  const entry = moduleOf(plugin);
  const isTypeScript = language === 'ts';
  const tests = `node --test ${isTypeScript ? 'dist/' : ''}index.test.js && ref-proxy test .`;
  return {
    name: packageName,
    version: '0.1.0',
    description: `${kind === 'stage' ? 'A stage' : 'An endpoint'} of ref-proxy`,
    type: 'module',
    exports: isTypeScript ? { types: './dist/index.d.ts', default: entry } : entry,
    files: isTypeScript ? ['dist', '!dist/*.test.*'] : ['index.js'],
    scripts: {
      ...(isTypeScript ? { build: 'tsc', prepack: 'tsc' } : {}),
      check: 'ref-proxy check pipeline.yaml',
      test: isTypeScript ? `tsc && ${tests}` : tests,
    },
    peerDependencies: { 'ref-proxy': `>=${version}` },
    ...(isTypeScript ? { devDependencies: { '@types/node': '>=20', typescript: '>=5.6' } } : {}),
  };
}

const compilerOptions = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    declaration: true,
    rootDir: '.',
    outDir: 'dist',
    types: ['node'],
  },
  include: ['*.ts'],
};

function pipeline(plugin: NewPlugin): string {
  const isStage = plugin.kind === 'stage';
  return `# yaml-language-server: $schema=node_modules/ref-proxy/schemas/pipeline.schema.json
version: 1
stages:
  - use: tenancy
${isStage ? stageUse(plugin) : ''}  - use: translate
  - use: backend
    with:
      url: \${BACKEND_URL:-http://localhost:9428}
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
${isStage ? '' : endpointUse(plugin)}`;
}

function readme(plugin: NewPlugin): string {
  const { packageName, kind, language } = plugin;
  const build = language === 'ts' ? 'npm run build\n' : '';
  const list = kind === 'stage' ? 'stages' : 'endpoints';
  return `# ${packageName}

${kind === 'stage' ? 'A stage' : 'An endpoint'} of ref-proxy.

    npm install          # once, with ref-proxy in this folder or one above it
    ${build === '' ? '' : `${build.trim()}\n    `}npm test
    npx ref-proxy check pipeline.yaml
    npx ref-proxy serve -pipeline=pipeline.yaml

\`pipeline.test.yaml\` says what comes of requests, \`index.test.${language}\` tests the code. \`npm pack\` makes a package; where it is installed,
the pipeline file names it by name:

    ${list}:
      - use: '${packageName}'
`;
}
