import yargs, { type Argv } from 'yargs';

// A separate file, so that the types of the package's entry points do not need those of yargs.
/**
 * yargs configured to take names literally: no nesting at dots, no camel case, no `--no-x`, no numbers; the last of several values is used.
 */
export function plainYargs(args: readonly string[]): Argv {
  return yargs(args).help(false).version(false).exitProcess(false).detectLocale(false).parserConfiguration({
    'dot-notation': false,
    'camel-case-expansion': false,
    'short-option-groups': false,
    'boolean-negation': false,
    'duplicate-arguments-array': false,
    'parse-numbers': false,
    'parse-positional-numbers': false,
    'populate--': true,
  });
}
