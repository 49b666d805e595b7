/** Runs at the end of every build; npm runs it in the package folder. */
import { removeOldOutputs } from './outputs.js';

removeOldOutputs(process.cwd());
