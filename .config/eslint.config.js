import tseslint from 'typescript-eslint';

const useTimers = { message: 'Use core/base/time/waits.' };

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '**/coverage/**',
      '**/*.gen.ts',
      '.config/**',
      'test/data/**',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipComments: false }],
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-duplicate-imports': ['error', { allowSeparateTypeImports: true }],
      // A plugin without metrics has none: Record<never, never> says so.
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  // What a listener throws ends the process, unless these modules have made what it listens to.
  {
    files: ['core/**/*.ts', 'plugins/**/*.ts'],
    ignores: [
      'core/http/guarded-*.ts',
      'core/victoria/upstream/connections.ts',
      // Programs and checks of their own, which serve nobody's requests.
      'plugins/embedded-backend/**',
      'core/kernel/check/**',
      'core/program/**',
      'core/tools/**',
      'core/testing/**',
      'plugins/ui/browser/**',
    ],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        ...['node:http', 'node:https', 'node:net', 'node:tls', 'ws'].map((name) => ({
          name,
          allowTypeImports: true,
          importNames: ['createServer', 'request', 'get', 'connect', 'createConnection', 'WebSocketServer'],
          message: 'Use core/http/guarded-server or core/victoria/upstream/connections.',
        })),
      ],
    },
  },
  // Timers of Node.js fire at once for long delays, and some refuse parts of milliseconds.
  {
    files: ['core/**/*.ts', 'plugins/**/*.ts'],
    ignores: ['core/base/time/waits.ts', 'plugins/ui/browser/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval'].map((name) => ({ name, ...useTimers })),
      ],
      'no-restricted-properties': ['error', { object: 'AbortSignal', property: 'timeout', ...useTimers }],
      'no-restricted-imports': [
        'error',
        { name: 'node:timers/promises', importNames: ['setTimeout', 'setInterval'], ...useTimers },
      ],
    },
  },
  { files: ['**/*table.ts', '**/*tables.ts'], rules: { 'max-lines': 'off' } },
  // Node's own test runner waits for its tests by itself.
  {
    files: ['examples/**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
);
