/** The end of every build; npm runs it in the folder of the package. */
import { removeOldOutputs } from './outputs.js';

removeOldOutputs(process.cwd());
