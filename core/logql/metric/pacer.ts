export { Pacer } from '../../pace/pacer.js';
