/** A flag of Node that hides the package sqlite3. */
const hook = `export const resolve = (name, context, next) => {
  if (name === 'sqlite3') throw new Error('hidden');
  return next(name, context);
};`;
const code = `import { register } from 'node:module';
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;

export const withoutSqlite3 = `--import=data:text/javascript,${encodeURIComponent(code)}`;
